import * as React from 'react';

import type { MemoryView } from '../../generated/rest';
import type { MemoryData } from '../../rest/memorydata';
import { SectionProblem } from '../sections/sectionproblem';
import { SearchField } from '../searchfield';
import { useSettings } from '../settingscontext';
import { matches } from '../fields/settingssearch';
import { ForgetAll } from './forgetall';
import { LearnedList } from './learnedlist';
import { Learning } from './learning';
import { LineFocusProvider, useLineFocus } from './linefocus';
import { NotesList } from './noteslist';
import { learnedTexts, noteTexts } from './memorytexts';

/**
 * How many lines there are before one is offered a search.
 */
const FEW = 8;

/**
 * Everything that is remembered: to look through, to change and to delete.
 */
export function MemorySection({ memory }: { memory: MemoryData }): JSX.Element {
  const { trans } = useSettings();
  const { error, loadError, value } = memory;
  const isForbidden = loadError?.code === 'forbidden_by_operator';
  const lines = useLineFocus();
  React.useEffect(() => void memory.refresh(), [memory]);
  // Somebody may have said "remember that …" while this was on the screen.
  const onFocus = ({
    currentTarget,
    relatedTarget
  }: React.FocusEvent<HTMLDivElement>) => {
    if (!currentTarget.contains(relatedTarget)) {
      void memory.refresh();
    }
  };
  if (isForbidden) {
    return (
      <div className="jp-hdspSettings-memory">
        <p className="jp-hdspSettings-warning">
          {trans.__(
            "Your administrator doesn't allow memory on this server. Nothing is remembered. What was saved before stays on disk, unused."
          )}
        </p>
      </div>
    );
  }
  return (
    <div
      ref={lines.container}
      className="jp-hdspSettings-memory"
      onFocus={onFocus}
    >
      <SectionProblem error={error} />
      {loadError && (
        <>
          <SectionProblem error={loadError} />
          <button
            type="button"
            className="jp-hdspSettings-button"
            onClick={() => void memory.refresh()}
          >
            {trans.__('Try again')}
          </button>
        </>
      )}
      {!value && !loadError && <p>{trans.__('Loading…')}</p>}
      {value && (
        <LineFocusProvider value={lines.afterChange}>
          <Remembered memory={memory} value={value} />
        </LineFocusProvider>
      )}
    </div>
  );
}

function Remembered({
  memory,
  value
}: {
  memory: MemoryData;
  value: MemoryView;
}): JSX.Element {
  const { model, trans } = useSettings();
  const [query, setQuery] = React.useState('');
  const { folder, learned, notes } = value.memory;
  // The switch above tells it sooner.
  const isOn = model.settings.value?.settings.memoryEnabled ?? value.enabled;
  const found = {
    notes: notes.filter(note => matches(query, noteTexts(trans, note))),
    learned: learned.filter(line => matches(query, learnedTexts(line)))
  };
  const isSearching = query.trim() !== '';
  return (
    <>
      {!isOn && (
        <p className="jp-hdspSettings-warning">
          {trans.__(
            'Memory is off. What is listed here is kept, but the agent does not use it.'
          )}
        </p>
      )}
      {(isSearching || notes.length + learned.length > FEW) && (
        <div className="jp-hdspSettings-memorySearch">
          <SearchField
            label={trans.__('Search memory')}
            query={query}
            count={
              isSearching ? found.notes.length + found.learned.length : null
            }
            onQuery={setQuery}
          />
        </div>
      )}
      <NotesList
        memory={memory}
        notes={found.notes}
        total={notes.length}
        unreadable={value.memory.unreadable ?? []}
      />
      <h3 id="jp-hdspSettings-memory-learned">
        {trans.__('Learned from conversations')}
      </h3>
      <Learning memory={memory} value={value} isOn={isOn} />
      <LearnedList
        memory={memory}
        lines={found.learned}
        notes={notes}
        total={learned.length}
      />
      <ForgetAll memory={memory} />
      <p className="jp-hdspSettings-hint">
        {trans.__('Stored as plain text in %1', folder)}
      </p>
    </>
  );
}
