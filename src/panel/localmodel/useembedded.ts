import * as React from 'react';

import { SettingsApi } from '../../rest/settingsapi';
import { EmbeddedData } from '../../rest/embeddeddata';
import { usePanel } from '../../ui/services';

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
