import * as React from 'react';

import { errorText } from '../../errors';
import type { StorageBody } from '../../generated/rest';
import type { IDialogs } from '../../ui/dialogs';

import { useSettings } from '../settingscontext';
import { isStored } from './keycontrol';
import { keySourceText, storageText } from '../settingstexts';
import { SectionProblem } from './sectionproblem';

/**
 * Where keys are kept, and all that are saved.
 */
export function KeysSection(): JSX.Element {
  return (
    <>
      <StorageStatus />
      <SavedKeys />
    </>
  );
}

function StorageStatus(): JSX.Element | null {
  const { model, trans } = useSettings();
  const storage = model.keys.value?.storage;
  const error = model.keys.storageError;
  if (!storage) {
    return null;
  }
  return (
    <div className="jp-hdspSettings-storage" data-available={storage.available}>
      {storage.available ? (
        <p>{storageText(trans, storage)}</p>
      ) : (
        <p className="jp-hdspSettings-warning">{errorText(trans, storage)}</p>
      )}
      <SectionProblem error={error} />
      <StorageChoices />
    </div>
  );
}

type IQuestion = Parameters<IDialogs['confirm']>[0];

function StorageChoices(): JSX.Element {
  const { model, trans, dialogs } = useSettings();
  const storage = model.keys.value?.storage;
  const isFixed =
    model.settings.value?.fixed.includes('secretStorage') ?? false;
  const wanted = model.settings.value?.settings.secretStorage ?? 'auto';
  const choose = async (kind: StorageBody['kind']) => {
    const questions: Partial<Record<StorageBody['kind'], IQuestion>> = {
      file: {
        title: trans.__('Keep keys unencrypted?'),
        body: trans.__(
          "Everyone who can read your files can then read your keys: administrators of this server, its backups, and every program you run, including the agent's commands."
        ),
        accept: trans.__('Keep them unencrypted')
      },
      memory: {
        title: trans.__('Keep keys in memory only?'),
        body: trans.__(
          'Saved keys are deleted from where they are now. When Jupyter stops, all keys are gone.'
        ),
        accept: trans.__('Keep them in memory')
      }
    };
    const question = questions[kind];
    if (question === undefined || (await dialogs.confirm(question))) {
      await model.keys.useStorage(kind);
      await model.settings.refresh();
    }
  };
  const choices: {
    kind: StorageBody['kind'];
    title: string;
    about: string;
  }[] = [
    {
      kind: 'auto',
      title: trans.__('The safest place that works'),
      about: trans.__(
        'The system keyring; where there is none, an encrypted file if a passphrase is set.'
      )
    },
    {
      kind: 'keyring',
      title: trans.__('The system keyring only'),
      about: trans.__(
        'It must be installed and unlocked for the account this server runs under.'
      )
    },
    {
      kind: 'encrypted-file',
      title: trans.__('An encrypted file'),
      about: trans.__(
        'Set the environment variable %1 to a passphrase before Jupyter starts. Without it the file cannot be read.',
        'HDSP_AGENT_PASSPHRASE'
      )
    },
    {
      kind: 'file',
      title: trans.__('A file that is not encrypted'),
      about: trans.__(
        'Only your account can read it, but the keys in it are not encrypted.'
      )
    },
    {
      kind: 'memory',
      title: trans.__('In memory, until Jupyter stops'),
      about: trans.__('Nothing is saved. You enter your keys again next time.')
    }
  ];
  return (
    <fieldset className="jp-hdspSettings-group" disabled={isFixed}>
      <legend>{trans.__('Where to keep keys')}</legend>
      {isFixed && (
        <p className="jp-hdspSettings-badge">
          {trans.__('Set by your administrator')}
        </p>
      )}
      {choices.map(({ kind, title, about }) => (
        <div key={kind} className="jp-hdspSettings-option">
          <label className="jp-hdspSettings-check">
            <input
              type="radio"
              name="jp-hdspSettings-storage"
              checked={wanted === kind}
              aria-describedby={`jp-hdspSettings-storage-${kind}`}
              onChange={() => void choose(kind)}
            />
            {title}
          </label>
          <p
            id={`jp-hdspSettings-storage-${kind}`}
            className="jp-hdspSettings-description"
          >
            {about}
          </p>
        </div>
      ))}
      {storage && !storage.available && (
        <button
          type="button"
          className="jp-hdspSettings-button"
          onClick={() => void choose(wanted)}
        >
          {trans.__('Try again')}
        </button>
      )}
      <p className="jp-hdspSettings-description">
        {trans.__(
          'You can also use a key without saving it here: set an environment variable such as %1 before Jupyter starts.',
          'ANTHROPIC_API_KEY'
        )}
      </p>
    </fieldset>
  );
}

function SavedKeys(): JSX.Element {
  const { model, trans } = useSettings();
  const titles = new Map(
    model.profileFields.map(field => [field.key, field.title])
  );
  const secrets = model.keys.value?.secrets ?? [];
  const rows = model.profiles.entries.flatMap(profile =>
    secrets
      .filter(({ profileId, present }) => present && profileId === profile.id)
      .map(status => ({ profile, status }))
  );
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Keys of your profiles')}</legend>
      {rows.length === 0 && (
        <p className="jp-hdspSettings-description">
          {trans.__('No key is set. Add one in the profile that needs it.')}
        </p>
      )}
      <ul className="jp-hdspSettings-keys">
        {rows.map(({ profile, status }) => (
          <li key={`${profile.id}-${status.key}`}>
            <span className="jp-hdspSettings-label">
              {titles.get(status.key) ?? status.key}
            </span>
            <span>{profile.name}</span>
            <span className="jp-hdspSettings-about">
              {keySourceText(trans, status)}
              {!isStored(status) && (
                <span className="jp-hdspSettings-badge">
                  {trans.__('Read-only')}
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
