import { LabIcon } from '@jupyterlab/ui-components';

/**
 * An x in brackets: variables.
 */
export const variablesIcon = new LabIcon({
  name: 'hdsp-agent:variables',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M7 3v2H5v14h2v2H3V3zm10 0h4v18h-4v-2h2V5h-2zM9.4 8l2.6 2.6L14.6 8 16 9.4 13.4 12l2.6 2.6-1.4 1.4-2.6-2.6L9.4 16 8 14.6l2.6-2.6L8 9.4z"/>
</svg>`
});
