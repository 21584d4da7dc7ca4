import { LabIcon } from '@jupyterlab/ui-components';

/**
 * A clock that goes back: what was before.
 */
export const pastIcon = new LabIcon({
  name: 'hdsp-agent:past',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <path class="jp-icon3" fill="#616161" d="M13 4a8 8 0 0 0-8 8H2l4 4 4-4H7a6 6 0 1 1 1.8 4.2l-1.4 1.5A8 8 0 1 0 13 4zm-1 4v5l4.2 2.5.8-1.3-3.5-2V8z"/>
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
