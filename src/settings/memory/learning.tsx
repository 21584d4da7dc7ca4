import * as React from 'react';

import type { MemoryView } from '../../generated/rest';
import type { MemoryData } from '../../rest/memorydata';
import { dateTimeText } from '../../ui/texts/formats';
import { useSettings } from '../settingscontext';
import { learningText, roundText } from './memorytexts';

/**
 * How learning stands, and how one begins or undoes it.
 */
export function Learning({
  memory,
  value,
  isOn
}: {
  memory: MemoryData;
  value: MemoryView;
  isOn: boolean;
}): JSX.Element {
  const { trans, announce } = useSettings();
  const { failure } = memory;
  const { canUndo } = value.memory;
  const { lastRound } = value;
  // The failure of a run is told below, with its reason.
  const isTold = lastRound?.outcome === 'failed' && failure !== null;
  const learnButton = React.useRef<HTMLButtonElement>(null);
  const learned = learningText(trans, value.memory);
  const cannotLearn = !isOn || value.running;
  const undo = async () => {
    if (await memory.undo()) {
      announce(trans.__('The last change was undone.'));
      learnButton.current?.focus();
    }
  };
  return (
    <>
      {learned && <p className="jp-hdspSettings-description">{learned}</p>}
      {lastRound && !isTold && (
        <p className="jp-hdspSettings-description">
          {roundText(trans, lastRound)}
        </p>
      )}
      {failure && (
        <p className="jp-hdspSettings-warning">
          {trans.__(
            'Learning failed on %1: %2',
            dateTimeText(Date.parse(failure.endedAt)),
            failure.error ?? trans.__('Unknown reason.')
          )}
        </p>
      )}
      <div className="jp-hdspSettings-actions">
        <button
          ref={learnButton}
          type="button"
          className="jp-hdspSettings-button"
          // One that is disabled would lose the focus.
          aria-disabled={cannotLearn}
          onClick={() => {
            if (!cannotLearn && !memory.isBusy) {
              void memory.learn();
            }
          }}
        >
          {trans.__('Learn now')}
        </button>
        {canUndo && (
          <button
            type="button"
            className="jp-hdspSettings-button"
            onClick={() => void undo()}
          >
            {trans.__('Undo the last change')}
          </button>
        )}
        <span role="status">
          {value.running ? (
            <>
              <progress aria-hidden="true" />{' '}
              {trans.__('Learning from your conversations…')}
            </>
          ) : (
            outcomeText()
          )}
        </span>
      </div>
    </>
  );

  function outcomeText(): string {
    switch (memory.outcome) {
      case 'learned':
        return trans.__('Done. What was learned is below.');
      case 'nothing':
        return trans.__('There was nothing new to learn.');
      case 'waiting':
        return trans.__(
          'The daily limit is reached or the model is busy. Learning will continue later.'
        );
      case 'failed':
        return trans.__('Learning failed. See above.');
      case null:
        return '';
    }
  }
}
