import * as React from 'react';

import type { LearnedItemView, NoteLine } from '../../generated/rest';
import type { MemoryData } from '../../rest/memorydata';
import { ItemAction } from '../sections/itemactions';
import { useSettings } from '../settingscontext';
import { ConversationLink, Line } from './line';
import { useAfterChange } from './linefocus';
import { usePages } from './manylines';
import { sectionTitle, shortText, sourceName } from './memorytexts';

/**
 * The lines that were learned, under their headings.
 */
export function LearnedList({
  memory,
  lines,
  notes,
  total
}: {
  memory: MemoryData;

  /**
   * Those that a search found.
   */
  lines: readonly LearnedItemView[];
  notes: readonly NoteLine[];

  /**
   * How many there are.
   */
  total: number;
}): JSX.Element {
  const { trans } = useSettings();
  const { shown, more } = usePages(lines);
  const kept = new Set(notes.map(({ text }) => text));
  return (
    <>
      {total === 0 && !memory.value?.running && (
        <p>
          {trans.__(
            'Nothing has been learned yet. The agent learns from a conversation after six hours without messages.'
          )}
        </p>
      )}
      {total > 0 && (
        <p className="jp-hdspSettings-description">
          {trans.__(
            'What is not used for 30 days is deleted, except “About you” and “General tips”. To keep a line for good, choose “Keep as a note”.'
          )}
        </p>
      )}
      {bySection(shown).map(({ file, section, lines }) => (
        <section
          key={`${file}:${section}`}
          aria-label={sectionTitle(trans, { file, section })}
        >
          <h4>{sectionTitle(trans, { file, section })}</h4>
          <ul>
            {lines.map(line => (
              <Learned
                key={line.id}
                memory={memory}
                line={line}
                isKept={kept.has(line.text)}
              />
            ))}
          </ul>
        </section>
      ))}
      {more}
    </>
  );
}

function Learned({
  memory,
  line,
  isKept
}: {
  memory: MemoryData;
  line: LearnedItemView;
  isKept: boolean;
}): JSX.Element {
  const { trans, announce } = useSettings();
  const afterChange = useAfterChange();
  const place = React.useRef<HTMLSpanElement>(null);
  const { id, sources, text } = line;
  const name = shortText(text);
  const keep = () =>
    afterChange(place.current, async () => {
      if (await memory.keepLearned(id)) {
        announce(trans.__('“%1” is kept as a note.', name));
      }
    });
  return (
    <Line
      id={id}
      text={text}
      isBusy={memory.isBusy}
      onChange={text => memory.changeLearned(id, text)}
      onDelete={() => memory.deleteLearned(id)}
      about={
        <>
          <span ref={place}>
            {sources.length > 0
              ? trans._n(
                  'From %1 conversation:',
                  'From %1 conversations:',
                  sources.length
                )
              : trans.__('Not linked to a conversation')}
          </span>
          {sources.map(source => (
            <ConversationLink
              key={source.taskId}
              label={sourceName(source)}
              about={trans.__('Open the conversation “%1”', sourceName(source))}
              taskId={source.taskId}
            />
          ))}
          {isKept && (
            <span className="jp-hdspSettings-badge">
              {trans.__('Kept as a note')}
            </span>
          )}
        </>
      }
    >
      {!isKept && (
        <ItemAction
          label={trans.__('Keep as a note')}
          about={trans.__('Keep as a note: “%1”', name)}
          onClick={keep}
        />
      )}
    </Line>
  );
}

interface ISectionOfLines {
  readonly file: string;
  readonly section: string;
  readonly lines: LearnedItemView[];
}

function bySection(lines: readonly LearnedItemView[]): ISectionOfLines[] {
  const sections: ISectionOfLines[] = [];
  for (const line of lines) {
    const { file, section } = line;
    const known = sections.find(
      one => one.file === file && one.section === section
    );
    if (known) {
      known.lines.push(line);
    } else {
      sections.push({ file, section, lines: [line] });
    }
  }
  return sections;
}
