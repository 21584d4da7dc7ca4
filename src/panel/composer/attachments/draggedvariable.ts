/**
 * What is dragged from the list of variables.
 */
export const VARIABLE_MIME = 'application/vnd.hdsp-agent.variable+json';

/**
 * A variable of a notebook's kernel that is dragged.
 */
export interface IDraggedVariable {
  /**
   * The notebook's.
   */
  readonly path: string;
  readonly name: string;
}

/**
 * Let a variable be dragged: into a message, and its name into any text.
 */
export function dragVariable(
  data: DataTransfer,
  { path, name }: IDraggedVariable
): void {
  data.effectAllowed = 'copy';
  data.setData(VARIABLE_MIME, JSON.stringify({ path, name }));
  data.setData('text/plain', name);
}

/**
 * The variable that is dragged; `null` if something else is.
 */
export function draggedVariable(
  data: DataTransfer | null
): IDraggedVariable | null {
  try {
    const { path, name } = JSON.parse(data?.getData(VARIABLE_MIME) ?? '') as {
      path?: unknown;
      name?: unknown;
    };
    return typeof path === 'string' && typeof name === 'string'
      ? { path, name }
      : null;
  } catch {
    return null;
  }
}
