import { LabIcon } from '@jupyterlab/ui-components';

/**
 * A thumb up: it was of use.
 */
export const thumbUpIcon = new LabIcon({
  name: 'hdsp-agent:thumb-up',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M9 21h9c.8 0 1.5-.5 1.8-1.2l3-7.1c.1-.2.2-.5.2-.7v-2c0-1.1-.9-2-2-2h-6.3l.9-4.6v-.3c0-.4-.2-.8-.4-1.1L14.2 1 7.6 7.6C7.2 8 7 8.4 7 9v10c0 1.1.9 2 2 2zm0-12 4.3-4.3L12 10h9v2l-3 7H9zM1 9h4v12H1z"/>
</svg>`
});

/**
 * A thumb down: it was not.
 */
export const thumbDownIcon = new LabIcon({
  name: 'hdsp-agent:thumb-down',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M15 3H6c-.8 0-1.5.5-1.8 1.2l-3 7.1c-.1.2-.2.5-.2.7v2c0 1.1.9 2 2 2h6.3l-.9 4.6v.3c0 .4.2.8.4 1.1L9.8 23l6.6-6.6c.4-.4.6-.8.6-1.4V5c0-1.1-.9-2-2-2zm0 12-4.3 4.3L12 14H3v-2l3-7h9zm4-12h4v12h-4z"/>
</svg>`
});
