import * as React from 'react';

import type { Forgettable } from '../../rest/memoryapi';
import type { MemoryData } from '../../rest/memorydata';
import { useSettings } from '../settingscontext';
import { forgetTexts } from './memorytexts';

const CHOICES: readonly Forgettable[] = ['notes', 'learned', 'all'];

/**
 * Deletes everything of a kind, when the person is sure.
 */
export function ForgetAll({ memory }: { memory: MemoryData }): JSX.Element {
  const { trans, dialogs, announce } = useSettings();
  const [what, setWhat] = React.useState<Forgettable>('notes');
  const id = React.useId();
  const forget = async () => {
    const { title, body, done } = forgetTexts(trans, what);
    const accept = trans.__('Delete');
    if (
      (await dialogs.confirm({ title, body, accept })) &&
      (await memory.forget(what))
    ) {
      announce(done);
    }
  };
  return (
    <fieldset className="jp-hdspSettings-group">
      <legend>{trans.__('Delete')}</legend>
      <div className="jp-hdspSettings-actions">
        <label htmlFor={id}>{trans.__('What to delete')}</label>
        <select
          id={id}
          className="jp-hdspSettings-input"
          value={what}
          onChange={event => setWhat(event.target.value as Forgettable)}
        >
          {CHOICES.map(choice => (
            <option key={choice} value={choice}>
              {forgetTexts(trans, choice).label}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="jp-hdspSettings-button"
          data-danger="true"
          onClick={() => void forget()}
        >
          {trans.__('Delete…')}
        </button>
      </div>
    </fieldset>
  );
}
