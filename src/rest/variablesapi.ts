import type { VariablesView, VariableTableView } from '../generated/rest';
import { SettingsApi } from './settingsapi';

/**
 * The server's REST interface, with what is asked about kernels' variables.
 */
export class VariablesApi extends SettingsApi {
  /**
   * What is in the kernel of a notebook, the newest first.
   *
   * @param changes - Whether to tell how it differs from the newest checkpoint.
   */
  variables(
    path: string,
    { changes }: { changes: boolean }
  ): Promise<VariablesView> {
    return this._request('POST /variables', { body: { path, changes } });
  }

  /**
   * Some rows of a variable.
   */
  table(path: string, name: string, start = 0): Promise<VariableTableView> {
    return this._request('POST /variables/table', {
      body: { path, name, start }
    });
  }
}
