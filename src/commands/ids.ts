/**
 * The ids of the commands; they are public, so none ever changes its meaning.
 */
export namespace CommandIDs {
  export const open = 'hdsp-agent:open';
  export const leave = 'hdsp-agent:leave';
  export const reconnect = 'hdsp-agent:reconnect';
  export const showConnection = 'hdsp-agent:show-connection';

  /**
   * Added by the settings plugin.
   */
  export const openSettings = 'hdsp-agent:open-settings';
}
