import type {
  DatabaseSchemaView,
  DatabasesView,
  TableName
} from '../generated/rest';
import { SettingsApi } from './settingsapi';

/**
 * The server's REST interface, with what is asked about kernels' databases.
 */
export class DatabasesApi extends SettingsApi {
  /**
   * The databases that a notebook's kernel is connected to, and their tables.
   */
  databases(path: string): Promise<DatabasesView> {
    return this._request('POST /databases', { body: { path } });
  }

  /**
   * The columns of a table, or of all in a database.
   */
  databaseSchema(
    path: string,
    database: string,
    table: TableName | null
  ): Promise<DatabaseSchemaView> {
    return this._request('POST /databases/schema', {
      body: { path, database, ...(table === null ? {} : { table }) }
    });
  }
}
