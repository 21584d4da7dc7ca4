import { Dialog, ReactWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import * as React from 'react';

import type { ShareBody, ShareOffer } from '../../generated/rest';
import { drawDialogBody } from '../../ui/drawdialogbody';
import { plainName } from '../../ui/texts/visibletext';

/**
 * How many days a link lasts unless one says otherwise.
 */
const DAYS = 30;

/**
 * What is asked before a conversation is shared.
 */
export interface IShareQuestion {
  readonly trans: TranslationBundle;
  readonly title: string;
  readonly offer: ShareOffer;
}

/**
 * Say what goes, and ask who may read it and for how long.
 *
 * @returns What was chosen; `null` if nothing shall be shared.
 */
export async function askShare(
  question: IShareQuestion
): Promise<ShareBody | null> {
  const { trans, title } = question;
  const body = new ShareDialogBody(question);
  drawDialogBody(body);
  const dialog = new Dialog({
    title: trans.__('Share “%1” as a link?', plainName(title)),
    body,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.okButton({ label: trans.__('Share and copy link') })
    ],
    // Enter shares nothing.
    defaultButton: 0
  });
  const { button } = await dialog.launch();
  return button.accept ? Private.bodyOf(body.choice) : null;
}

class ShareDialogBody extends ReactWidget {
  constructor(question: IShareQuestion) {
    super();
    this.addClass('jp-hdspAgent-shareDialog');
    this._question = question;
    this.choice = Private.firstChoice(question.offer);
  }

  choice: ShareBody;

  protected render(): JSX.Element {
    return (
      <ShareForm
        {...this._question}
        onChoose={choice => {
          this.choice = choice;
          this._enable(Private.isForSomebody(choice));
        }}
      />
    );
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._enable(Private.isForSomebody(this.choice));
  }

  /**
   * What is for nobody cannot be shared.
   */
  private _enable(isReady: boolean): void {
    const accept = this.node
      .closest('.jp-Dialog')
      ?.querySelector<HTMLButtonElement>('.jp-Dialog-button.jp-mod-accept');
    if (accept) {
      accept.disabled = !isReady;
    }
  }

  private readonly _question: IShareQuestion;
}

/**
 * What goes, and for whom.
 */
export function ShareForm({
  trans,
  offer,
  onChoose
}: IShareQuestion & {
  readonly onChoose: (choice: ShareBody) => void;
}): JSX.Element {
  const [choice, setChoice] = React.useState(() => Private.firstChoice(offer));
  const name = React.useId();
  const choose = (change: Partial<ShareBody>) => {
    const changed = { ...choice, ...change };
    setChoice(changed);
    onChoose(changed);
  };
  const isForAll = choice.everybody;
  return (
    <>
      <ul>
        {Private.contents(offer, trans).map(sentence => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <fieldset>
        <legend>{trans.__('Who can read it')}</legend>
        <label>
          <input
            type="radio"
            name={name}
            checked={isForAll}
            onChange={() => choose({ everybody: true })}
          />
          {trans.__('Everybody who can sign in to the hub')}
        </label>
        <label>
          <input
            type="radio"
            name={name}
            checked={!isForAll}
            onChange={() => choose({ everybody: false })}
          />
          {trans.__('Only these groups and people')}
        </label>
        {offer.groups?.map(group => (
          <label key={group}>
            <input
              type="checkbox"
              disabled={isForAll}
              checked={choice.groups?.includes(group) ?? false}
              onChange={({ target }) =>
                choose({
                  groups: Private.toggled(choice.groups, group, target.checked)
                })
              }
            />
            {trans.__('Group %1', group)}
          </label>
        ))}
        <label>
          {trans.__('User names, separated by commas')}
          <input
            type="text"
            className="jp-mod-styled"
            disabled={isForAll}
            onChange={({ target }) =>
              choose({ people: Private.names(target.value) })
            }
          />
        </label>
      </fieldset>
      <label>
        {trans.__('Days until the link ends')}
        <input
          type="number"
          className="jp-mod-styled"
          min={1}
          max={offer.mostDays}
          defaultValue={choice.days}
          onChange={({ target }) =>
            choose({ days: Private.days(target.value, offer) })
          }
        />
      </label>
      <p>
        <a href={offer.page} target="_blank" rel="noopener noreferrer">
          {trans.__(
            'Your shared links (%1 of %2)',
            offer.links,
            offer.mostLinks
          )}
        </a>
      </p>
    </>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function firstChoice({ mostDays }: ShareOffer): ShareBody {
    return {
      everybody: false,
      groups: [],
      people: [],
      days: Math.min(DAYS, mostDays)
    };
  }

  /**
   * What is sent: groups and people that were named before stay on the page alone.
   */
  export function bodyOf(choice: ShareBody): ShareBody {
    const { everybody, days } = choice;
    return everybody ? { everybody, days } : choice;
  }

  export function isForSomebody({
    everybody,
    groups,
    people
  }: ShareBody): boolean {
    return everybody || [...(groups ?? []), ...(people ?? [])].length > 0;
  }

  export function names(text: string): string[] {
    const found = text.split(/[,\s]+/).filter(one => one !== '');
    return [...new Set(found)];
  }

  export function toggled(
    groups: readonly string[] | undefined,
    group: string,
    isOn: boolean
  ): string[] {
    const others = (groups ?? []).filter(one => one !== group);
    return isOn ? [...others, group] : others;
  }

  export function days(text: string, { mostDays }: ShareOffer): number {
    const wanted = Math.trunc(Number(text));
    return Math.min(
      Math.max(Number.isFinite(wanted) ? wanted : DAYS, 1),
      mostDays
    );
  }

  /**
   * What goes, and what does not.
   */
  export function contents(
    { messages, images, outputs, imagesLeftOut, outputsLeftOut }: ShareOffer,
    trans: TranslationBundle
  ): string[] {
    const sentences = [
      trans._n(
        'The page shows %1 message with what tools did and gave, as it is now.',
        'The page shows %1 messages with what tools did and gave, as they are now.',
        messages
      )
    ];
    if (images > 0) {
      sentences.push(trans.__('Images shown: %1', images));
    }
    if (outputs > 0) {
      sentences.push(trans.__('Long outputs shown in full: %1', outputs));
    }
    if (imagesLeftOut + outputsLeftOut > 0) {
      sentences.push(
        trans.__(
          'Left out for size or kind: %1 images, %2 long outputs',
          imagesLeftOut,
          outputsLeftOut
        )
      );
    }
    return [
      ...sentences,
      trans.__(
        'Keys and e-mail addresses are masked. Names, data and passwords in plain words are not.'
      ),
      trans.__(
        'What the agent found in other conversations, notebooks and memory stays out; its answers may quote it.'
      )
    ];
  }
}
