import { LabIcon } from '@jupyterlab/ui-components';

/**
 * A speech bubble with a clock in it: past conversations.
 */
export const pastIcon = new LabIcon({
  name: 'hdsp-agent:past',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" fill-rule="evenodd" d="M4 2h16a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2zm0 2v12h2v1.8L8.3 16H20V4zm7 2h2v3.9l2.8 1.6-1 1.7L11 11z"/>
</svg>`
});

/**
 * A star: a favourite.
 */
export const favoriteIcon = new LabIcon({
  name: 'hdsp-agent:favorite',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="m12 17.3 6.2 3.7-1.7-7 5.5-4.7-7.2-.6L12 2 9.2 8.7 2 9.3 7.5 14l-1.7 7z"/>
</svg>`
});

/**
 * The outline of a star: no favourite.
 */
export const notFavoriteIcon = new LabIcon({
  name: 'hdsp-agent:not-favorite',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="m22 9.2-7.2-.6L12 2 9.2 8.6 2 9.2l5.5 4.7L5.8 21l6.2-3.7 6.2 3.7-1.6-7.1zM12 15.4l-3.8 2.3 1-4.3-3.3-2.9 4.4-.4L12 6.1l1.7 4 4.4.4-3.3 2.9 1 4.3z"/>
</svg>`
});

/**
 * A plus over a minus: what differs.
 */
export const differenceIcon = new LabIcon({
  name: 'hdsp-agent:difference',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M11 3h2v4h4v2h-4v4h-2V9H7V7h4zM7 17h10v2H7z"/>
</svg>`
});
