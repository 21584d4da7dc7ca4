import { LabIcon } from '@jupyterlab/ui-components';

/**
 * A wrench: have something fixed.
 */
export const fixIcon = new LabIcon({
  name: 'hdsp-agent:fix',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="m18 2.4-3.4 3.4.7 2.9 2.9.7L21.6 6a6.4 6.4 0 0 1-8.5 8.3L6 21.4A2.4 2.4 0 0 1 2.6 18l7.1-7.1A6.4 6.4 0 0 1 18 2.4z"/>
</svg>`
});
