import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { RecalledItem } from '../../../generated/wire';
import { FoundLink } from '../../../ui/controls/foundlink';
import type { FoundPlace } from '../../../ui/conversations/openfound';
import { foundName } from '../../../ui/conversations/openfound';
import { usePanel } from '../../../ui/services';
import { Fold } from '../../../ui/texts/fold';
import { dateTimeText } from '../../../ui/texts/formats';
import { listText } from '../../../ui/texts/listtext';
import { plainName } from '../../../ui/texts/visibletext';

/**
 * What of the past the model had before it for an answer: in a line, and, when
 * one wants to see it, one by one with the way to each.
 */
export function Recalled({
  id,
  items
}: {
  /** Under which it is remembered whether it is unfolded. */
  id: string;
  items: readonly RecalledItem[];
}): JSX.Element | null {
  const { trans } = usePanel();
  const counts = countTexts(items, trans);
  if (counts.length === 0) {
    return null;
  }
  const told = items.filter(item => item.told === true);
  const read = items.filter(item => item.told !== true);
  return (
    <div className="jp-hdspAgent-chat-recalled">
      <Fold
        id={id}
        summary={trans.__(
          'From memory and search: %1',
          listText(counts, trans)
        )}
      >
        <RecalledList heading={trans.__('Given to the model')} items={told} />
        <RecalledList heading={trans.__('Read by the agent')} items={read} />
      </Fold>
    </div>
  );
}

function RecalledList({
  heading,
  items
}: {
  heading: string;
  items: readonly RecalledItem[];
}): JSX.Element | null {
  const id = React.useId();
  if (items.length === 0) {
    return null;
  }
  return (
    <>
      <div id={id} className="jp-hdspAgent-chat-recalled-heading">
        {heading}
      </div>
      <ul className="jp-hdspAgent-chat-hits" aria-labelledby={id}>
        {firstOfEach(items).map(item => (
          <li key={sourceOf(item)}>
            <Item item={item} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Item({ item }: { item: RecalledItem }): JSX.Element {
  const { trans } = usePanel();
  const { kind, source, title, path, place = '' } = item;
  const isMemory = kind === 'note' || kind === 'learned';
  const where: FoundPlace = {
    kind: isMemory ? 'memory' : kind,
    source,
    title,
    place,
    ...(path !== undefined && { path })
  };
  return (
    <span className="jp-hdspAgent-chat-hit-head">
      <FoundLink place={where}>
        {isMemory ? plainName(title) : foundName(where, trans)}
      </FoundLink>
      <span>{kindText(kind, trans)}</span>
      {kind === 'conversation' && Number(place) > 0 && (
        <span>{dateTimeText(Number(place))}</span>
      )}
    </span>
  );
}

/**
 * One item for each source: where the best of it stands. The row of the search
 * has all passages.
 */
function firstOfEach(items: readonly RecalledItem[]): RecalledItem[] {
  const sources = items.map(sourceOf);
  return items.filter((item, at) => sources.indexOf(sourceOf(item)) === at);
}

function sourceOf({ kind, source }: RecalledItem): string {
  return `${kind} ${source}`;
}

function kindText(
  kind: RecalledItem['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'note':
      return trans._p('memory', 'Note');
    case 'learned':
      return trans.__('Learned');
    case 'conversation':
      return trans.__('Conversation');
    case 'notebook':
      return trans.__('Notebook');
  }
}

/**
 * How much there is of each kind; however often the same was read, it is one.
 */
function countTexts(
  items: readonly RecalledItem[],
  trans: TranslationBundle
): string[] {
  const count = (kind: RecalledItem['kind']) =>
    new Set(
      items.filter(item => item.kind === kind).map(({ source }) => source)
    ).size;
  const notes = count('note');
  const files = count('learned');
  const conversations = count('conversation');
  const notebooks = count('notebook');
  return [
    ...(notes ? [trans._n('%1 note', '%1 notes', notes)] : []),
    ...(files ? [trans._n('%1 memory file', '%1 memory files', files)] : []),
    ...(conversations
      ? [trans._n('%1 conversation', '%1 conversations', conversations)]
      : []),
    ...(notebooks ? [trans._n('%1 notebook', '%1 notebooks', notebooks)] : [])
  ];
}
