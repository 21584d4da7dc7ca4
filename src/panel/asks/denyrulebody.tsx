import * as React from 'react';

import { errorText } from '../../errors';
import type { AskMessage } from '../../state/pendingask';
import { useAction } from '../../ui/useaction';
import { usePanel } from '../../ui/services';
import { commandOf } from './askcontent';

/**
 * Shows the rule that would refuse a command from now on, and adds it.
 */
export default function DenyRuleBody({
  ask,
  onDone
}: {
  ask: AskMessage;
  onDone: () => void;
}): JSX.Element {
  const { answers, client, openSettings, store, trans } = usePanel();
  const [typed, setTyped] = React.useState(() =>
    Private.firstCommand(commandOf(ask.text ?? '').command)
  );
  const { isBusy, error, run } = useAction();
  const rule = typed.trim();
  const add = () =>
    void run(async () => {
      const denied = store.state?.settings?.deniedCommands ?? [];
      await client.request({
        type: 'updateSettings',
        updatedSettings: { deniedCommands: [...new Set([...denied, rule])] }
      });
      onDone();
      await answers.deny(ask);
    });
  return (
    <>
      <h3 className="jp-hdspAgent-ask-popover-title">
        {trans.__('Never run this')}
      </h3>
      <form
        className="jp-hdspAgent-ask-rules"
        onSubmit={event => {
          event.preventDefault();
          if (rule !== '') {
            add();
          }
        }}
      >
        <fieldset>
          <legend>{trans.__('Commands that begin with')}</legend>
          <input
            type="text"
            className="jp-mod-styled jp-hdspAgent-ask-rule"
            aria-label={trans.__('Commands that begin with')}
            value={typed}
            spellCheck={false}
            onChange={event => setTyped(event.target.value)}
          />
        </fieldset>
        {rule !== '' && (
          <p>
            {trans.__(
              'This refuses every command that begins with “%1” without asking, in all conversations.',
              rule
            )}
          </p>
        )}
        <button
          type="submit"
          className="jp-hdspAgent-button jp-mod-accept"
          aria-disabled={isBusy || rule === ''}
        >
          {isBusy ? trans.__('Saving…') : trans.__('Add and deny')}
        </button>
        {error && <p role="alert">{errorText(trans, error)}</p>}
      </form>
      <button
        type="button"
        className="jp-hdspAgent-ask-link"
        onClick={() => {
          onDone();
          openSettings('commands');
        }}
      >
        {trans.__('Manage rules')}
      </button>
    </>
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * What is run first in a command line: rules are about one command.
   */
  export function firstCommand(line: string): string {
    return (/^[^;&|<>\n]*/.exec(line.trim())?.[0] ?? '').trim();
  }
}
