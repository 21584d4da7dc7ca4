import { PathExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { RecallFound } from '../../generated/rest';
import { ProblemNote } from '../../ui/controls/problemnote';
import { foundName, openFound } from '../../ui/conversations/openfound';
import { usePanel } from '../../ui/services';
import { dateTimeText } from '../../ui/texts/formats';
import { Marked, textOf } from '../../ui/texts/marked';
import { plainName } from '../../ui/texts/visibletext';
import { useAction } from '../../ui/useaction';
import type { FoundPassages, IFound } from './foundpassages';
import { moveAmongRows } from './historylist';

/**
 * The passages that were found outside of the listed conversations, by where
 * they stand.
 */
export function FoundGroups({
  passages,
  id,
  isBelowList
}: {
  passages: FoundPassages;

  /** What the ids of the groups begin with. */
  id: string;

  /** Whether conversations are listed above. */
  isBelowList: boolean;
}): JSX.Element | null {
  const { trans } = usePanel();
  const { found, error } = passages;
  if (error !== null) {
    return (
      <div className="jp-hdspAgent-history-ending">
        <p>
          {trans.__(
            'Conversations, notebooks and memory could not be searched.'
          )}
        </p>
        <ProblemNote error={error} />
        <button
          type="button"
          className="jp-hdspAgent-button"
          onClick={() => passages.again()}
        >
          {trans.__('Try again')}
        </button>
      </div>
    );
  }
  return (
    <>
      {found !== null &&
        groupsOf(found).map(group => (
          <FoundGroup
            key={group.kind}
            id={id}
            name={groupName(group.kind, trans, isBelowList)}
            {...group}
          />
        ))}
    </>
  );
}

/**
 * Leads past the conversations to what else was found.
 */
export function FoundLinks({
  found,
  id
}: {
  found: IFound;
  id: string;
}): JSX.Element | null {
  const { trans } = usePanel();
  const groups = groupsOf(found);
  if (groups.length === 0) {
    return null;
  }
  return (
    <nav
      className="jp-hdspAgent-history-foundLinks"
      aria-label={trans.__('Also found')}
    >
      {groups.map(({ kind, passages }) => (
        <button
          key={kind}
          type="button"
          className="jp-hdspAgent-link"
          onClick={() => document.getElementById(`${id}-${kind}`)?.focus()}
        >
          {trans.__('%1 (%2)', groupName(kind, trans, true), passages.length)}
        </button>
      ))}
    </nav>
  );
}

/**
 * How many passages there are beside the listed conversations.
 */
export function countOf(found: IFound): number {
  return groupsOf(found).reduce(
    (count, { passages }) => count + passages.length,
    0
  );
}

interface IGroup {
  readonly kind: RecallFound['kind'];
  readonly passages: readonly RecallFound[];
}

function groupsOf({ conversations, notebooks, memory }: IFound): IGroup[] {
  const groups: IGroup[] = [
    { kind: 'conversation', passages: conversations },
    { kind: 'notebook', passages: notebooks },
    { kind: 'memory', passages: memory }
  ];
  return groups.filter(({ passages }) => passages.length > 0);
}

function FoundGroup({
  id,
  name,
  kind,
  passages
}: IGroup & { id: string; name: string }): JSX.Element {
  const services = usePanel();
  const { trans } = services;
  const { run, error } = useAction();
  const [gone, setGone] = React.useState<string | null>(null);
  const heading = `${id}-${kind}`;
  const open = (passage: RecallFound) =>
    void run(async () => {
      setGone(null);
      if (!(await openFound(services, passage))) {
        setGone(foundName(passage, trans));
      }
    });
  return (
    <section className="jp-hdspAgent-history-found">
      <h4 id={heading} tabIndex={-1}>
        {name}
      </h4>
      <ProblemNote error={error} />
      {gone !== null && (
        <p className="jp-hdspAgent-history-gone" role="alert">
          {trans.__('%1 no longer exists.', gone)}
        </p>
      )}
      <ul
        className="jp-hdspAgent-history-list"
        aria-labelledby={heading}
        onKeyDown={moveAmongRows}
      >
        {passages.map(passage => (
          <li
            key={`${passage.source} ${passage.place}`}
            className="jp-hdspAgent-history-item"
          >
            <FoundRow passage={passage} onOpen={open} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function FoundRow({
  passage,
  onOpen
}: {
  passage: RecallFound;
  onOpen: (passage: RecallFound) => void;
}): JSX.Element {
  const { trans } = usePanel();
  const { kind, path, author, ts, snippet } = passage;
  const name = foundName(passage, trans);
  return (
    <div className="jp-hdspAgent-history-row">
      <button
        type="button"
        className="jp-hdspAgent-entry jp-hdspAgent-history-open"
        onClick={() => onOpen(passage)}
      >
        <span
          className="jp-hdspAgent-history-title"
          dir="auto"
          title={path === undefined ? name : plainName(path)}
        >
          {path === undefined ? name : PathExt.basename(name)}
        </span>
        <span
          className="jp-hdspAgent-history-snippet"
          dir="auto"
          title={textOf(snippet)}
        >
          <Marked parts={snippet} />
        </span>
        <span className="jp-hdspAgent-history-about">
          <span>{placeText(kind, author, trans)}</span>
          <span>{dateTimeText(ts)}</span>
        </span>
      </button>
    </div>
  );
}

function placeText(
  kind: RecallFound['kind'],
  author: RecallFound['author'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'conversation':
      return author === 'person' ? trans.__('You') : trans.__('Agent');
    case 'notebook':
      return trans.__('Cell');
    case 'memory':
      return trans.__('Memory');
  }
}

function groupName(
  kind: RecallFound['kind'],
  trans: TranslationBundle,
  isBelowList: boolean
): string {
  switch (kind) {
    case 'conversation':
      return isBelowList
        ? trans.__('In other conversations')
        : trans.__('In conversations');
    case 'notebook':
      return trans.__('In notebooks');
    case 'memory':
      return trans.__('In memory');
  }
}
