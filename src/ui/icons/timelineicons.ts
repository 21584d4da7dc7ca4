import { LabIcon } from '@jupyterlab/ui-components';

/**
 * Points on a line, one below the other: the timeline.
 */
export const timelineIcon = new LabIcon({
  name: 'hdsp-agent:timeline',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M6 2h2v1.2a3 3 0 0 1 0 5.6v.4a3 3 0 0 1 0 5.6v.4a3 3 0 0 1 0 5.6V22H6v-1.2a3 3 0 0 1 0-5.6v-.4a3 3 0 0 1 0-5.6v-.4a3 3 0 0 1 0-5.6zM13 5h9v2h-9zm0 6h9v2h-9zm0 6h6v2h-6z"/>
</svg>`
});

/**
 * A cell in front of another one, with a clock in it: what a cell was before.
 */
export const cellVersionsIcon = new LabIcon({
  name: 'hdsp-agent:cell-versions',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" fill-rule="evenodd" d="M7 3h13a2 2 0 0 1 2 2v10h-2V5H7zM4 7h12a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zm0 2v10h12V9zm5 2h2v2.9l2.3 1.4-1 1.7L9 15z"/>
</svg>`
});
