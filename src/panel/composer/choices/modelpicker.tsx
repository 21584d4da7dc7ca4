import * as React from 'react';

import { currentProfile } from '../../../state/currentmode';
import { Popover } from '../../../ui/controls/popover';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import { shortModelName } from '../../../ui/texts/modeltexts';
import type { IPickerProps } from '../../../ui/controls/pickerface';
import { PickerFace, choiceBlocker } from '../../../ui/controls/pickerface';

const ModelChoices = React.lazy(() => import('./modelchoices'));

/**
 * Shows which model answers, and lets another one be chosen.
 */
export function ModelPicker({
  isOffline,
  onFailed
}: IPickerProps): JSX.Element {
  const { store, trans } = usePanel();
  const profiles = useStore(store, ({ state }) => state?.listApiConfigMeta);
  const name = useStore(store, ({ state }) => currentProfile(state));
  const model = profiles?.find(one => one.name === name)?.modelId;
  const isShared =
    profiles !== undefined &&
    profiles.filter(({ modelId }) => modelId === model).length > 1;
  const label =
    model === undefined
      ? (name ?? trans.__('Model'))
      : isShared
        ? trans.__('%1 (%2)', shortModelName(model), name)
        : shortModelName(model);
  const title =
    name === undefined
      ? trans.__('Model: %1', trans.__('not chosen'))
      : model === undefined
        ? trans.__('Model: %1', name)
        : trans.__('Model: %1 (%2)', model, name);
  return (
    <Popover
      label={trans.__('Model')}
      buttonLabel={title}
      description={title}
      className="jp-hdspAgent-picker jp-hdspAgent-modelPicker"
      face={<PickerFace label={label} />}
      disabledReason={choiceBlocker(isOffline, trans)}
    >
      {close => (
        <React.Suspense fallback={trans.__('Loading…')}>
          <ModelChoices close={close} onFailed={onFailed} />
        </React.Suspense>
      )}
    </Popover>
  );
}
