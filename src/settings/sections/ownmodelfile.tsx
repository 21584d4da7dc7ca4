import * as React from 'react';

import { errorText } from '../../errors';
import type { EmbeddedChoice } from '../../generated/rest';

import { useSettings } from '../settingscontext';

/**
 * A model file of the person's, within limits of theirs.
 */
export function OwnModelFile(): JSX.Element {
  const { model, trans, announce } = useSettings();
  const { embedded, profiles } = model;
  const [path, setPath] = React.useState('');
  const [context, setContext] = React.useState('');
  const [output, setOutput] = React.useState('');
  const [isRefused, setRefused] = React.useState(false);
  const id = React.useId();
  const use = async () => {
    const choice: EmbeddedChoice = {
      path: path.trim(),
      ...(context !== '' && { context: Number(context) }),
      ...(output !== '' && { output: Number(output) })
    };
    const isDone = await embedded.use(choice);
    setRefused(!isDone);
    if (isDone) {
      await profiles.refresh();
      announce(trans.__('New conversations use this file.'));
      setPath('');
    }
  };
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('A model file of your own')}</legend>
      <p className="jp-hdspSettings-description">
        {trans.__(
          "A GGUF file on this server's machine. A profile is created for it and used from now on. Check its license yourself."
        )}
      </p>
      <form
        className="jp-hdspSettings-ownFile"
        onSubmit={event => {
          event.preventDefault();
          void use();
        }}
      >
        <label className="jp-hdspSettings-label" htmlFor={`${id}-path`}>
          {trans.__('Full path')}
        </label>
        <input
          id={`${id}-path`}
          required
          type="text"
          spellCheck={false}
          className="jp-hdspSettings-input"
          aria-invalid={isRefused}
          value={path}
          onChange={event => {
            setPath(event.currentTarget.value);
            setRefused(false);
          }}
        />
        {isRefused && embedded.error && (
          <p className="jp-hdspSettings-error">
            {errorText(trans, embedded.error)}
          </p>
        )}
        <Limit
          id={`${id}-context`}
          label={trans.__(
            'Context window, in tokens (empty: from the file, at most 8,192)'
          )}
          least={256}
          value={context}
          onChange={setContext}
        />
        <Limit
          id={`${id}-output`}
          label={trans.__('Longest answer, in tokens (empty: 2,048)')}
          least={16}
          value={output}
          onChange={setOutput}
        />
        <button
          type="submit"
          className="jp-hdspSettings-button"
          disabled={embedded.isBusy || path.trim() === ''}
        >
          {trans.__('Use this file')}
        </button>
      </form>
    </fieldset>
  );
}

function Limit({
  id,
  label,
  least,
  value,
  onChange
}: {
  id: string;
  label: string;
  least: number;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <>
      <label className="jp-hdspSettings-label" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="number"
        min={least}
        max={1_000_000}
        className="jp-hdspSettings-input"
        value={value}
        onChange={event => onChange(event.currentTarget.value)}
      />
    </>
  );
}
