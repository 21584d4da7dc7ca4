import { LabIcon } from '@jupyterlab/ui-components';

/**
 * A bookmark: a checkpoint that is kept.
 */
export const checkpointIcon = new LabIcon({
  name: 'hdsp-agent:checkpoint',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M17 3H7a2 2 0 0 0-2 2v16l7-3 7 3V5a2 2 0 0 0-2-2zm0 15-5-2.2L7 18V5h10z"/>
</svg>`
});
