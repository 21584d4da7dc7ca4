import * as React from 'react';

import { SettingsApi } from '../../settings/settingsapi';
import { EmbeddedData } from '../../settings/embeddeddata';
import { usePanel } from '../services';

/**
 * The embedded models of the server, asked for when the component is first shown.
 */
export function useEmbedded(): EmbeddedData {
  const { serverSettings } = usePanel();
  const [, update] = React.useReducer((count: number) => count + 1, 0);
  const [data] = React.useState(
    () => new EmbeddedData(new SettingsApi(serverSettings))
  );
  React.useEffect(() => {
    data.changed.connect(update);
    void data.refresh();
    return () => data.dispose();
  }, [data]);
  return data;
}
