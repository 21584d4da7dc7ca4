import * as React from 'react';

import type {
  NewNoteBody,
  NoteLine,
  UnreadableNotes
} from '../../generated/rest';
import type { MemoryData } from '../../rest/memorydata';
import { dayText } from '../../ui/texts/formats';
import { noteScope } from '../../ui/texts/notescope';
import { ItemAction } from '../sections/itemactions';
import { useSettings } from '../settingscontext';
import { ConversationLink, Line } from './line';
import { usePages } from './manylines';
import { shortText } from './memorytexts';
import { TextForm } from './textform';

type Scope = NoteLine['scope'];

/**
 * The notes, the pinned ones first, and how one adds another.
 */
export function NotesList({
  memory,
  notes,
  total,
  unreadable
}: {
  memory: MemoryData;

  /**
   * Those that a search found.
   */
  notes: readonly NoteLine[];

  /**
   * How many there are.
   */
  total: number;
  unreadable: readonly UnreadableNotes[];
}): JSX.Element {
  const { trans } = useSettings();
  const sorted = [...notes].sort(
    (one, other) => Number(other.pinned) - Number(one.pinned)
  );
  const { shown, more } = usePages(sorted);
  return (
    <>
      <h3 id="jp-hdspSettings-memory-notes">{trans.__('Notes')}</h3>
      <p className="jp-hdspSettings-description">
        {trans.__(
          'The agent reads these at the start of every conversation. From a long list it reads the pinned and newest notes, and can search the rest. Say “remember that …” to add one.'
        )}
      </p>
      {unreadable.map(({ scope, reason }) => (
        <p key={scope} className="jp-hdspSettings-warning">
          {trans.__("Some notes can't be read: %1", reason)}
        </p>
      ))}
      {total === 0 && <p>{trans.__('There are no notes yet.')}</p>}
      <ul aria-labelledby="jp-hdspSettings-memory-notes">
        {shown.map(note => (
          <Note key={`${note.scope}:${note.id}`} memory={memory} note={note} />
        ))}
      </ul>
      {more}
      <AddNote memory={memory} />
    </>
  );
}

function Note({
  memory,
  note
}: {
  memory: MemoryData;
  note: NoteLine;
}): JSX.Element {
  const { trans, announce } = useSettings();
  const { id, pinned, task, text } = note;
  const name = shortText(text);
  const pin = async () => {
    if (await memory.changeNote(id, { pinned: !pinned })) {
      announce(
        pinned
          ? trans.__('“%1” is no longer pinned.', name)
          : trans.__('“%1” is pinned.', name)
      );
    }
  };
  return (
    <Line
      id={id}
      text={text}
      isBusy={memory.isBusy}
      onChange={text => memory.changeNote(id, { text })}
      onDelete={() => memory.deleteNote(id)}
      about={
        <>
          {pinned && (
            <span className="jp-hdspSettings-badge">{trans.__('Pinned')}</span>
          )}
          <span>{noteScope(note.scope, trans)}</span>
          {note.day && <span>{dayText(note.day)}</span>}
          {task && (
            <ConversationLink
              label={trans.__('Conversation')}
              about={trans.__('Conversation where “%1” was saved', name)}
              taskId={task}
            />
          )}
        </>
      }
    >
      <ItemAction
        label={pinned ? trans.__('Unpin') : trans.__('Pin')}
        about={
          pinned ? trans.__('Unpin “%1”', name) : trans.__('Pin “%1”', name)
        }
        onClick={pin}
      />
    </Line>
  );
}

function AddNote({ memory }: { memory: MemoryData }): JSX.Element {
  const { trans, announce } = useSettings();
  const [isOpen, setOpen] = React.useState(false);
  const [scope, setScope] = React.useState<Scope>('person');
  const button = React.useRef<HTMLButtonElement>(null);
  const wasOpen = React.useRef(false);
  React.useEffect(() => {
    if (wasOpen.current && !isOpen) {
      button.current?.focus();
    }
    wasOpen.current = isOpen;
  }, [isOpen]);
  const add = async (text: string) => {
    const note: NewNoteBody = { text, scope, pinned: false };
    if (await memory.addNote(note)) {
      announce(trans.__('Saved “%1”.', shortText(text)));
      setOpen(false);
    }
  };
  if (!isOpen) {
    return (
      <button
        ref={button}
        type="button"
        className="jp-hdspSettings-button"
        data-adds-line
        onClick={() => setOpen(true)}
      >
        {trans.__('Add a note…')}
      </button>
    );
  }
  return (
    <TextForm
      name={trans.__('New note')}
      isBusy={memory.isBusy}
      onSave={text => void add(text)}
      onCancel={() => setOpen(false)}
    >
      <ScopeChoice
        scope={scope}
        notebook={memory.place.notebook}
        onChoose={setScope}
      />
    </TextForm>
  );
}

function ScopeChoice({
  scope,
  notebook,
  onChoose
}: {
  scope: Scope;
  notebook: string | undefined;
  onChoose: (scope: Scope) => void;
}): JSX.Element {
  const { trans } = useSettings();
  const id = React.useId();
  return (
    <div className="jp-hdspSettings-field">
      <div className="jp-hdspSettings-fieldHead">
        <label className="jp-hdspSettings-label" htmlFor={id}>
          {trans.__('Applies to')}
        </label>
      </div>
      <select
        id={id}
        className="jp-hdspSettings-input"
        value={scope}
        onChange={event => onChoose(event.target.value as Scope)}
      >
        <option value="person">{noteScope('person', trans)}</option>
        <option value="workspace">{noteScope('workspace', trans)}</option>
        {notebook !== undefined && (
          <option value="notebook">
            {trans.__('For the notebook %1', notebook)}
          </option>
        )}
      </select>
    </div>
  );
}
