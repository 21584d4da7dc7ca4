import * as React from 'react';

import { errorText } from '../../errors';
import type { ProfileView } from '../../generated/rest';
import type { SecretPresence } from '../../generated/wire';

import { useSettings } from '../settingscontext';
import type { IField } from '../fields/fields';
import { NO_PROFILE } from '../data/keysdata';
import type { SettingsModel } from '../data/settingsmodel';
import { keySourceText, otherAddressText } from '../settingstexts';

// Keys that are several lines long, which an input of one line would run together.
const MULTILINE_KEYS = ['openAiSecretHeaders', 'vertexJsonCredentials'];

/**
 * One key, of a profile or of none: what is known of it, and a place to put another.
 *
 * #### Notes
 * What is typed here exists in this input and in the request that saves it, and is gone afterwards.
 */
export function KeyControl({
  profile,
  field
}: {
  /**
   * `null` for a key that belongs to no profile.
   */
  profile: ProfileView | null;
  field: IField;
}): JSX.Element {
  const { model, trans, dialogs, announce } = useSettings();
  const [value, setValue] = React.useState('');
  const owner = profile ?? NO_PROFILE;
  const id = `jp-hdspSettings-key-${owner.id}-${field.key}`;
  const status = model.keys.statusOf(owner.id, field.key);
  const address = profile
    ? addressOf(model, profile)
    : model.settings.value?.settings.searchEndpointUrl;
  React.useEffect(() => {
    // What was typed so far was meant for where the profile was then.
    setValue('');
  }, [owner.id, address]);
  // A key from elsewhere goes before a saved one, so there is nothing to type.
  const isOwn = !status.present || isStored(status);
  const error = model.keys.errorOf(owner.id, field.key);
  const save = async () => {
    if (
      value.trim() !== '' &&
      (await model.keys.save(owner, field.key, value.trim()))
    ) {
      setValue('');
      announce(trans.__('%1: saved', field.title));
    }
  };
  const remove = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Remove this key?'),
      body: profile
        ? trans.__(
            'The %1 of the profile “%2” will be deleted. This cannot be undone.',
            field.title,
            profile.name
          )
        : trans.__(
            'This will be deleted: %1. This cannot be undone.',
            field.title
          ),
      accept: trans.__('Remove key')
    });
    if (sure && (await model.keys.remove(owner, field.key))) {
      announce(trans.__('%1: removed', field.title));
    }
  };
  const input = {
    id,
    autoComplete: 'new-password',
    spellCheck: false,
    value,
    placeholder: status.present
      ? trans.__('Type a new key to replace it')
      : trans.__('Paste your key here'),
    'aria-invalid': error !== null || undefined,
    'aria-describedby': error ? `${id}-error ${id}-status` : `${id}-status`,
    onChange: (
      event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>
    ) => setValue(event.target.value)
  };
  return (
    <div className="jp-hdspSettings-field" data-key={field.key}>
      <div className="jp-hdspSettings-fieldHead">
        <label
          className="jp-hdspSettings-label"
          htmlFor={isOwn ? id : undefined}
        >
          {field.title}
        </label>
        <span className="jp-hdspSettings-status" id={`${id}-status`}>
          {keySourceText(trans, status)}
        </span>
      </div>
      {status.givenFor !== undefined && (
        <p className="jp-hdspSettings-warning" role="status">
          {otherAddressText(trans, status)}
        </p>
      )}
      {isOwn && (
        <form
          className="jp-hdspSettings-keyRow"
          onSubmit={event => {
            event.preventDefault();
            void save();
          }}
        >
          {MULTILINE_KEYS.includes(field.key) ? (
            <textarea
              {...input}
              className="jp-hdspSettings-input jp-hdspSettings-keyText"
              rows={3}
            />
          ) : (
            <input
              {...input}
              className="jp-hdspSettings-input"
              type="password"
            />
          )}
          <button
            type="submit"
            className="jp-hdspSettings-button"
            disabled={value.trim() === ''}
          >
            {status.present ? trans.__('Replace key') : trans.__('Save key')}
          </button>
          {isStored(status) && (
            <button
              type="button"
              className="jp-hdspSettings-button"
              aria-label={trans.__('Remove %1', field.title)}
              onClick={() => void remove()}
            >
              {trans.__('Remove')}
            </button>
          )}
        </form>
      )}
      {error && (
        <div className="jp-hdspSettings-error">
          <span id={`${id}-error`} role="alert">
            {errorText(trans, error)}
          </span>
        </div>
      )}
      {field.description && (
        <p className="jp-hdspSettings-description">{field.description}</p>
      )}
    </div>
  );
}

/**
 * Where the profile is, as far as it says so itself.
 */
function addressOf(model: SettingsModel, profile: ProfileView): unknown {
  const info = model.providers.find(
    ({ id }) => id === profile.settings.apiProvider
  );
  const settings: Record<string, unknown> = { ...profile.settings };
  return info?.baseUrlField === undefined ? null : settings[info.baseUrlField];
}

/**
 * Whether a key is kept by us, so that it can be removed here.
 */
export function isStored(status: SecretPresence): boolean {
  return (
    status.present &&
    status.source !== 'environment' &&
    status.source !== 'operator'
  );
}
