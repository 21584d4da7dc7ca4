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

  /**
   * Added by the cells plugin.
   */
  export const askAboutCell = 'hdsp-agent:ask-about-cell';
  export const fixCell = 'hdsp-agent:fix-cell';

  /**
   * Added by the review plugin.
   */
  export const keepCell = 'hdsp-agent:keep-cell';
  export const undoCell = 'hdsp-agent:undo-cell';
  export const keepPart = 'hdsp-agent:keep-part';
  export const undoPart = 'hdsp-agent:undo-part';
  export const keepAll = 'hdsp-agent:keep-all';
  export const undoAll = 'hdsp-agent:undo-all';
  export const nextChange = 'hdsp-agent:next-change';
  export const previousChange = 'hdsp-agent:previous-change';

  /**
   * Added by the follow plugin.
   */
  export const follow = 'hdsp-agent:follow-agent';
}
