import * as React from 'react';

import { errorText } from '../../errors';
import type { LocalModelView } from '../../generated/rest';
import { ModelCard } from '../../panel/localmodel/modelcard';
import { bytesText } from '../../panel/localmodel/localmodeltexts';
import { Select } from '../../ui/controls/select';
import { useSettings } from '../settingscontext';

/**
 * A model that is not of the list: any of a hub by its name, or a file.
 */
export function OtherModel(): JSX.Element {
  const { model, trans, announce } = useSettings();
  const { embedded, profiles } = model;
  const [text, setText] = React.useState('');
  const [isRefused, setRefused] = React.useState(false);
  const [picked, setPicked] = React.useState('');
  const { found } = embedded;
  const one: LocalModelView | undefined =
    found.find(({ id }) => id === picked) ?? found[0];
  const id = React.useId();
  const typed = text.trim();
  const isPath = /^([/~\\]|[A-Za-z]:[/\\])/.test(typed);
  const go = async () => {
    const isDone = isPath
      ? await embedded.use({ path: typed })
      : await embedded.lookUp(typed);
    setRefused(!isDone);
    if (isDone && isPath) {
      await profiles.refresh();
      announce(trans.__('New conversations use this file.'));
      setText('');
    }
  };
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Another model')}</legend>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'A model in the GGUF format: from the Hugging Face hub as owner/repository or owner/repository:file.gguf, or the full path of a file on this machine. Check its license yourself.'
        )}
      </p>
      <form
        className="jp-hdspSettings-ownFile"
        onSubmit={event => {
          event.preventDefault();
          void go();
        }}
      >
        <label className="jp-hdspSettings-label" htmlFor={id}>
          {trans.__('Name on the hub, or full path')}
        </label>
        <input
          id={id}
          required
          type="text"
          spellCheck={false}
          className="jp-hdspSettings-input"
          aria-invalid={isRefused}
          value={text}
          onChange={event => {
            setText(event.currentTarget.value);
            setRefused(false);
          }}
        />
        {isRefused && embedded.error && (
          <p className="jp-hdspSettings-error" role="alert">
            {errorText(trans, embedded.error)}
          </p>
        )}
        <button
          type="submit"
          className="jp-hdspSettings-button"
          disabled={embedded.isBusy || typed === ''}
        >
          {isPath ? trans.__('Use this file') : trans.__('Look it up')}
        </button>
      </form>
      {found.length > 1 && (
        <label>
          <span className="jp-hdspSettings-label">{trans.__('File')}</span>
          <Select
            value={one?.id}
            onChange={event => setPicked(event.currentTarget.value)}
          >
            {found.map(({ id, name, size }) => (
              <option key={id} value={id}>
                {`${name} (${bytesText(size, trans)})`}
              </option>
            ))}
          </Select>
        </label>
      )}
      {one && (
        <ModelCard key={one.id} embedded={embedded} model={one} trans={trans} />
      )}
    </fieldset>
  );
}
