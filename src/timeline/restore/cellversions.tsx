import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { CellVersion } from '../../generated/rest';
import { lineChanges } from '../../notebook/review/linechanges';
import { diffLines } from '../../ui/texts/diff';
import { drawDialogBody } from '../../ui/drawdialogbody';
import { authorText, whenText } from '../timelinetexts';

/**
 * What a cell is restored to is chosen from.
 */
export interface ICellQuestion {
  readonly trans: TranslationBundle;

  /**
   * What the cell says now, saved or not.
   */
  readonly source: string;

  /**
   * What it was before, newest first.
   */
  readonly versions: readonly CellVersion[];
}

/**
 * Show what a cell was, and ask which of that it shall be again.
 *
 * @returns The checkpoint to restore it from; `null` if it shall stay as it is.
 */
export async function askCellVersion(
  question: ICellQuestion
): Promise<string | null> {
  const { trans, versions } = question;
  const title = trans.__('Restore this cell');
  if (versions.every(({ now }) => now)) {
    await showDialog({
      title,
      body: trans.__(
        'No checkpoint contains a different version of this cell. Once the next checkpoint is saved, you can restore this version.'
      ),
      buttons: [Dialog.okButton({ label: trans.__('Close') })]
    });
    return null;
  }
  const body = new VersionsBody(question);
  drawDialogBody(body);
  const dialog = new Dialog({
    title,
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: trans.__('Restore') })
    ]
  });
  dialog.addClass('jp-hdspAgent-timeline-dialog');
  const { button } = await dialog.launch();
  return button.accept ? (body.chosen?.checkpoint ?? null) : null;
}

class VersionsBody extends ReactWidget {
  constructor(question: ICellQuestion) {
    super();
    this.addClass('jp-hdspAgent-timeline-preview');
    this._question = question;
    this.chosen = question.versions.find(({ now }) => !now) ?? null;
  }

  chosen: CellVersion | null;

  protected render(): JSX.Element {
    return (
      <VersionsView
        {...this._question}
        first={this.chosen}
        onChoose={chosen => {
          this.chosen = chosen;
        }}
      />
    );
  }

  private readonly _question: ICellQuestion;
}

function VersionsView({
  trans,
  source,
  versions,
  first,
  onChoose
}: ICellQuestion & {
  first: CellVersion | null;
  onChoose: (chosen: CellVersion) => void;
}): JSX.Element {
  const [chosen, setChosen] = React.useState(first);
  const name = React.useId();
  return (
    <div className="jp-hdspAgent-timeline-versions">
      <fieldset>
        <legend>{trans.__('Versions of this cell')}</legend>
        {versions.map(version => (
          <label key={version.checkpoint}>
            <input
              type="radio"
              name={name}
              disabled={version.now}
              checked={chosen === version}
              onChange={() => {
                setChosen(version);
                onChoose(version);
              }}
            />
            <VersionLine version={version} trans={trans} />
          </label>
        ))}
      </fieldset>
      {chosen !== null && (
        <VersionDiff before={source} after={chosen.source} trans={trans} />
      )}
    </div>
  );
}

function VersionLine({
  version: { ts, author, outputs, now },
  trans
}: {
  version: CellVersion;
  trans: TranslationBundle;
}): JSX.Element {
  return (
    <span>
      <time dateTime={new Date(ts).toISOString()}>{whenText(ts)}</time>
      {' · '}
      {authorText(author, trans)}
      {' · '}
      {outputs === 0
        ? trans.__('no output')
        : trans._n('%1 output', '%1 outputs', outputs)}
      {now && <strong> · {trans.__('as it is now')}</strong>}
    </span>
  );
}

/**
 * What restoring would make of the cell, line by line.
 */
function VersionDiff({
  before,
  after,
  trans
}: {
  before: string;
  after: string;
  trans: TranslationBundle;
}): JSX.Element {
  const lines = React.useMemo(
    () => diffLines(changedLines(before, after)),
    [before, after]
  );
  return (
    <div
      className="jp-hdspAgent-chat-diff"
      role="group"
      aria-label={trans.__('What restoring changes')}
    >
      {before === after ? (
        <p>{trans.__('Same source; outputs or metadata differ.')}</p>
      ) : (
        <pre tabIndex={0}>
          {lines.map(({ kind, text }, index) => (
            <div
              key={index}
              className="jp-hdspAgent-chat-diff-line"
              data-kind={kind}
            >
              {text}
            </div>
          ))}
        </pre>
      )}
    </div>
  );
}

/**
 * All lines of two texts, each with its sign.
 */
function changedLines(before: string, after: string): string {
  const old = before.split('\n');
  const result: string[] = [];
  let at = 0;
  for (const { from, to, lines } of lineChanges(old, after.split('\n'))) {
    result.push(
      ...old.slice(at, from).map(line => ` ${line}`),
      ...old.slice(from, to).map(line => `-${line}`),
      ...lines.map(line => `+${line}`)
    );
    at = to;
  }
  result.push(...old.slice(at).map(line => ` ${line}`));
  return result.join('\n');
}
