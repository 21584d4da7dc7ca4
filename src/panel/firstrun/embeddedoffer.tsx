import * as React from 'react';

import { errorText } from '../../errors';
import type { LocalModelList } from '../../generated/rest';
import { bytesText } from '../localmodel/localmodeltexts';
import { usePanel } from '../../ui/services';

/**
 * The embedded model among the places a model can come from; nothing where the
 * operator does not want it.
 */
export function EmbeddedOffer({
  list,
  isOnly,
  onChoose
}: {
  list: LocalModelList;

  /**
   * Whether nothing better was found.
   */
  isOnly: boolean;
  onChoose: () => void;
}): JSX.Element | null {
  const { trans } = usePanel();
  const model = list.models.find(({ isDefault }) => isDefault);
  if (!list.allowed || !model) {
    return null;
  }
  if (!list.installed) {
    return (
      <li>
        <strong>{trans.__('The embedded model')}</strong>
        <span>
          {errorText(trans, { code: 'local_runtime_missing', message: '' })}
        </span>
      </li>
    );
  }
  return (
    <li>
      <button
        type="button"
        className={`jp-hdspAgent-button${isOnly ? ' jp-mod-accept' : ''}`}
        onClick={onChoose}
      >
        {trans.__('Use the embedded model')}
      </button>
      <span>
        {model.state === 'ready'
          ? trans.__(
              'small and often wrong, but private and free of charge; it is on this machine already'
            )
          : model.state === 'getting'
            ? trans.__(
                'small and often wrong, but private and free of charge; it is downloading'
              )
            : trans.__(
                'small and often wrong, but private and free of charge; %1 to download once',
                bytesText(model.size, trans)
              )}
      </span>
    </li>
  );
}
