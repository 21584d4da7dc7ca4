/**
 * What stands in tests of the page for the parts of JupyterLab that nothing of ours
 * uses: its own buttons and trees, and its forms made from schemas. They are a
 * third of what a test file loads.
 */

export const Button = 'jp-button';
export const Search = 'jp-search';
export const TreeItem = 'jp-tree-item';
export const TreeView = 'jp-tree-view';

export function provideJupyterDesignSystem(): { register: () => void } {
  return { register: nothing };
}

export const addJupyterLabThemeChangeListener = nothing;
export const jpButton = nothing;
export const jpToolbar = nothing;

function nothing(): void {
  // Custom elements stay unknown ones, as those of no part of ours do.
}
