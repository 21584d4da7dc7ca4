import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ChannelClient } from '../../comm/client';
import { asErrorBody } from '../../errors';
import type {
  ErrorBody,
  ExtensionMessage,
  ModeName
} from '../../generated/wire';
import { modeName } from '../../ui/texts/modenames';
import type { AgentState } from '../../state/store';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { currentMode, currentProfile } from '../../state/currentmode';
import type { IMenuEntry } from '../../ui/controls/popupmenu';
import { openMenu } from '../../ui/controls/popupmenu';
import { loadModes } from './suggestions/suggestionsources';

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
          // The picker asks again, and says what is wrong then.
          console.warn('The modes could not be read', reason);
        }
      }
    );
    return () => {
      isWanted = false;
    };
  }, [client, isOffline, own, trusted]);
  const open = async (anchor: HTMLElement) => {
    const found = modes.length > 0 ? modes : await loadModes(client);
    setModes(found);
    openMenu(
      anchor,
      found.map(({ slug, name }) => ({
        label: modeName(trans, slug, own, name),
        isChosen: slug === mode,
        run: () =>
          void client
            .request({ type: 'mode', text: slug })
            .catch((reason: unknown) => onFailed(asErrorBody(reason)))
      }))
    );
  };
  const name =
    mode &&
    modeName(trans, mode, own, modes.find(({ slug }) => slug === mode)?.name);
  return (
    <Picker
      label={name || trans.__('Mode')}
      title={trans.__('Mode: %1', name || trans.__('not chosen'))}
      isDisabled={isOffline}
      onOpen={anchor =>
        void open(anchor).catch((reason: unknown) =>
          onFailed(asErrorBody(reason))
        )
      }
    />
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

/**
 * Shows with which profile the agent works, and lets another one be chosen;
 * keeps some at the top, and one for all modes.
 */
export function ProfilePicker({
  isOffline,
  onFailed
}: IPickerProps): JSX.Element {
  const { client, openSettings, store, trans } = usePanel();
  const profiles = useStore(store, ({ state }) => state?.listApiConfigMeta);
  const current = useStore(store, ({ state }) => currentProfile(state));
  const isLocked = useStore(
    store,
    ({ state }) => state?.lockApiConfigAcrossModes ?? false
  );
  const ask = (request: ChannelClient.Request) =>
    void client
      .request(request)
      .catch((reason: unknown) => onFailed(asErrorBody(reason)));
  const open = (anchor: HTMLElement) => {
    const entry = (profile: Private.Profile): IMenuEntry => ({
      label: profile.modelId
        ? trans.__('%1 (%2)', profile.name, profile.modelId)
        : profile.name,
      isEnabled: profile.allowed,
      isChosen: profile.name === current,
      run: () => ask({ type: 'loadApiConfiguration', text: profile.name })
    });
    const pin = ({ id, name, pinned }: Private.Profile): IMenuEntry => ({
      label: name,
      isChosen: pinned,
      run: () => ask({ type: 'toggleApiConfigPin', text: id })
    });
    const [pinned, others] = Private.parted(profiles ?? []);
    openMenu(anchor, [
      ...pinned.map(entry),
      ...(pinned.length > 0 && others.length > 0 ? [null] : []),
      ...others.map(entry),
      null,
      ...(profiles && profiles.length > 1
        ? [{ label: trans.__('Pin to Top'), entries: profiles.map(pin) }]
        : []),
      {
        label: trans.__('One Profile for All Modes'),
        isChosen: isLocked,
        run: () => ask({ type: 'lockApiConfigAcrossModes', bool: !isLocked })
      },
      {
        label: trans.__('Set Up Models…'),
        run: () => openSettings('models')
      }
    ]);
  };
  return (
    <Picker
      label={current ?? trans.__('Model')}
      title={trans.__('Model profile: %1', current ?? trans.__('not chosen'))}
      isDisabled={isOffline}
      onOpen={open}
    />
  );
}

/**
 * The properties of a picker.
 */
interface IPickerProps {
  readonly isOffline: boolean;
  readonly onFailed: (error: ErrorBody) => void;
}

function Picker({
  label,
  title,
  isDisabled,
  onOpen
}: {
  readonly label: string;
  readonly title: string;
  readonly isDisabled: boolean;
  readonly onOpen: (anchor: HTMLElement) => void;
}): JSX.Element {
  return (
    <button
      type="button"
      className="jp-hdspAgent-picker"
      aria-haspopup="menu"
      aria-expanded="false"
      aria-label={title}
      title={title}
      disabled={isDisabled}
      onClick={event => onOpen(event.currentTarget)}
    >
      <span className="jp-hdspAgent-picker-label">{label}</span>
      <caretDownIcon.react tag="span" aria-hidden="true" />
    </button>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  export type Profile = NonNullable<AgentState['listApiConfigMeta']>[number];

  /**
   * The pinned ones, and the others.
   */
  export function parted(
    profiles: readonly Profile[]
  ): [readonly Profile[], readonly Profile[]] {
    return [
      profiles.filter(({ pinned }) => pinned),
      profiles.filter(({ pinned }) => !pinned)
    ];
  }
}
