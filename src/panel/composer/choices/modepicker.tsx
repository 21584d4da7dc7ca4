import * as React from 'react';

import type { ChannelClient } from '../../../comm/client';
import { asErrorBody } from '../../../errors';
import type { ExtensionMessage, ModeName } from '../../../generated/wire';
import { currentMode } from '../../../state/currentmode';
import { Popover } from '../../../ui/controls/popover';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { modeDescription, modeName } from '../../../ui/texts/modenames';
import { loadModes } from '../suggestions/suggestionsources';
import type { IPickerProps } from '../../../ui/controls/pickerface';
import { PickerFace, choiceBlocker } from '../../../ui/controls/pickerface';

const ModeChoices = React.lazy(() => import('./modechoices'));

/**
 * Shows in which mode the agent works, and lets another one be chosen.
 */
export function ModePicker({ isOffline, onFailed }: IPickerProps): JSX.Element {
  const { client, store, trans } = usePanel();
  const mode = useStore(store, ({ state }) => currentMode(state));
  const own = useStore(store, ({ state }) => state?.customModes);
  const [modes, setModes] = React.useState<readonly ModeName[]>([]);
  const trusted = useFolderTrustChanges(client);
  React.useEffect(() => {
    if (isOffline) {
      return;
    }
    let isWanted = true;
    loadModes(client).then(
      found => isWanted && setModes(found),
      (reason: unknown) => {
        if (isWanted) {
          // The window asks again, and says what is wrong then.
          console.warn('The modes could not be read', reason);
        }
      }
    );
    return () => {
      isWanted = false;
    };
  }, [client, isOffline, own, trusted]);
  const choose = (slug: string) =>
    void client
      .request({ type: 'mode', text: slug })
      .catch((reason: unknown) => onFailed(asErrorBody(reason)));
  const name =
    mode &&
    modeName(trans, mode, own, modes.find(({ slug }) => slug === mode)?.name);
  const about = mode ? modeDescription(trans, mode, own) : '';
  const title = trans.__('Mode: %1', name || trans.__('not chosen'));
  return (
    <Popover
      label={trans.__('Mode')}
      buttonLabel={title}
      description={about ? trans.__('%1. %2', title, about) : title}
      className="jp-hdspAgent-picker jp-hdspAgent-modePicker"
      face={<PickerFace label={name || trans.__('Mode')} />}
      disabledReason={choiceBlocker(isOffline, trans)}
    >
      {close => (
        <React.Suspense fallback={trans.__('Loading…')}>
          <ModeChoices
            known={modes}
            current={mode}
            onChoose={slug => {
              close();
              choose(slug);
            }}
          />
        </React.Suspense>
      )}
    </Popover>
  );
}

/**
 * Another number whenever trust in a folder begins or ends, and its modes with it.
 */
function useFolderTrustChanges(
  client: Pick<ChannelClient, 'messageReceived'>
): number {
  const [count, changed] = React.useReducer((before: number) => before + 1, 0);
  React.useEffect(() => {
    const listen = (_: unknown, { type }: ExtensionMessage) =>
      type === 'folderTrustUpdated' && changed();
    client.messageReceived.connect(listen);
    return () => void client.messageReceived.disconnect(listen);
  }, [client]);
  return count;
}
