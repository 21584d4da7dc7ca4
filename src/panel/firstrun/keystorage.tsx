import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { errorText } from '../../errors';
import type { StorageBody } from '../../generated/rest';
import type { SecretStorageStatus } from '../../generated/wire';
import { usePanel } from '../../ui/services';

/**
 * A place to keep keys in.
 */
export type KeyPlace = StorageBody['kind'];

/**
 * Where a key can be kept while the system keyring cannot be used.
 */
export function KeyStorage({
  trouble,
  place,
  onChange
}: {
  /**
   * Why keys cannot be kept now.
   */
  readonly trouble: SecretStorageStatus;
  readonly place: KeyPlace;
  readonly onChange: (place: KeyPlace) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const id = React.useId();
  const isMissing = trouble.code === 'keyring_missing';
  return (
    <fieldset className="jp-hdspAgent-setup-storage">
      <legend>
        {isMissing
          ? trans.__(
              'This computer has no keyring. Where should the key be kept?'
            )
          : trans.__('Where should the key be kept?')}
      </legend>
      {!isMissing && <p>{errorText(trans, trouble)}</p>}
      {placesFor(trouble, trans).map(({ kind, title, about }) => (
        <div key={kind}>
          <label>
            <input
              type="radio"
              name={id}
              checked={kind === place}
              aria-describedby={`${id}-${kind}`}
              onChange={() => onChange(kind)}
            />
            {title}
          </label>
          <p id={`${id}-${kind}`}>{about}</p>
        </div>
      ))}
      <p>
        {trans.__(
          'For an encrypted file, set %1 to a passphrase before Jupyter starts. You can also set the key itself as an environment variable.',
          'HDSP_AGENT_PASSPHRASE'
        )}
      </p>
    </fieldset>
  );
}

function placesFor(
  { code }: SecretStorageStatus,
  trans: TranslationBundle
): { kind: KeyPlace; title: string; about: string }[] {
  const memory = {
    kind: 'memory' as const,
    title: trans.__('In memory, until Jupyter stops'),
    about: trans.__('Nothing is saved. You enter the key again next time.')
  };
  const file = {
    kind: 'file' as const,
    title: trans.__('In a file that is not encrypted'),
    about: trans.__(
      'Only your account may read it. So can programs you run, administrators and backups.'
    )
  };
  const again = {
    kind: 'auto' as const,
    title: trans.__('In the system keyring'),
    about: trans.__(
      'Unlock it first. HDSP Agent tries again when you continue.'
    )
  };
  return code === 'keyring_missing' || code === 'keyring_refused'
    ? [memory, file]
    : [memory, file, again];
}
