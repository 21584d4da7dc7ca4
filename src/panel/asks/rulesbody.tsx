import * as React from 'react';

import { errorText } from '../../errors';
import { settingsText } from '../../generated/settingsText';
import type {
  GlobalSettings,
  RuleSuggestion,
  RuleSuggestionsMessage
} from '../../generated/wire';
import type { AskMessage } from '../../state/pendingask';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { named } from '../../state/panel/askanswers';
import { APPROVED_CLASSES } from './autoapproval/approvedclasses';
import { requestReply } from '../../comm/requestreply';
import { listText } from '../../ui/texts/listtext';
import { useAction } from '../../ui/useaction';
import type { IAnswer } from '../../ui/useanswer';
import { useAnswer } from '../../ui/useanswer';

/**
 * Shows the rules that would answer a question, and adds the chosen ones.
 */
export default function RulesBody({
  ask,
  onDone
}: {
  ask: AskMessage;
  onDone: () => void;
}): JSX.Element {
  const { openSettings, trans } = usePanel();
  const { answer, error } = useSuggestedRules(ask);
  return (
    <>
      <h3 className="jp-hdspAgent-ask-popover-title">
        {trans.__('Always allow')}
      </h3>
      {error !== null ? (
        <p role="alert">{errorText(trans, error)}</p>
      ) : answer === null ? (
        <p>{trans.__('Loading…')}</p>
      ) : answer.rules.length > 0 ? (
        <RulesForm ask={ask} rules={answer.rules} onDone={onDone} />
      ) : (
        <p role="status">
          {answer.reason
            ? errorText(trans, answer.reason)
            : trans.__('No rule can allow this. The agent asks each time.')}
        </p>
      )}
      <button
        type="button"
        className="jp-hdspAgent-ask-link"
        onClick={() => {
          onDone();
          // Commands have a list of their own.
          openSettings(ask.ask === 'command' ? 'commands' : 'approvals');
        }}
      >
        {trans.__('Manage rules')}
      </button>
    </>
  );
}

function RulesForm({
  ask,
  rules,
  onDone
}: {
  ask: AskMessage;
  rules: readonly RuleSuggestion[];
  onDone: () => void;
}): JSX.Element {
  const { answers, client, store, trans } = usePanel();
  const words = React.useMemo(() => settingsText(trans), [trans]);
  const settings = useStore(store, ({ state }) => state?.settings);
  const commands = React.useMemo(() => Private.byCommand(rules), [rules]);
  const [chosen, setChosen] = React.useState<Readonly<Record<string, string>>>(
    {}
  );
  const { isBusy, error, run } = useAction();
  const classes = rules.filter(({ kind }) => kind === 'class');
  const valueFor = (command: string, offered: readonly RuleSuggestion[]) =>
    chosen[command] ?? offered[0]?.value ?? '';
  const add = () =>
    void run(async () => {
      const values = commands.map(([command, offered]) =>
        valueFor(command, offered)
      );
      await client.request({
        type: 'updateSettings',
        updatedSettings: Private.change(
          classes,
          values,
          settings?.allowedCommands ?? []
        )
      });
      onDone();
      await answers.approve(ask);
    });
  return (
    <form
      className="jp-hdspAgent-ask-rules"
      onSubmit={event => {
        event.preventDefault();
        add();
      }}
    >
      {commands.map(([command, offered]) => (
        <fieldset key={command}>
          <legend>{trans.__('Commands that begin with')}</legend>
          {/* What allows least comes first, and is taken unless one chooses. */}
          {offered.map(({ value }) => (
            <label key={value}>
              <input
                type="radio"
                name={command}
                checked={valueFor(command, offered) === value}
                onChange={() => setChosen({ ...chosen, [command]: value })}
              />
              <code>{value}</code>
            </label>
          ))}
          <p>
            {trans.__(
              'This allows every command that begins with “%1” without asking, whatever comes after it.',
              valueFor(command, offered)
            )}
          </p>
        </fieldset>
      ))}
      {classes.length > 0 && (
        <>
          <p>{trans.__('This will turn on, for all conversations:')}</p>
          <ul>
            {classes.map(({ value, label }) => (
              <li key={value} title={words[value]?.description}>
                {words[value]?.title ?? label ?? value}
              </li>
            ))}
          </ul>
          <AlsoAllowed classes={classes} settings={settings} words={words} />
        </>
      )}
      <button
        type="submit"
        className="jp-hdspAgent-button jp-mod-accept"
        aria-disabled={isBusy}
      >
        {isBusy ? trans.__('Saving…') : trans.__('Allow and approve')}
      </button>
      {error && <p role="alert">{errorText(trans, error)}</p>}
    </form>
  );
}

/**
 * What a switch allows besides: that for which it was all that was missing.
 */
function AlsoAllowed({
  classes,
  settings,
  words
}: {
  classes: readonly RuleSuggestion[];
  settings: GlobalSettings | undefined;
  words: ReturnType<typeof settingsText>;
}): JSX.Element {
  const { trans } = usePanel();
  const { kinds, commands } = Private.alsoAllowed(classes, settings);
  return (
    <>
      {kinds.length > 0 && (
        <p>
          {trans.__(
            'These are on already, so they will no longer be asked about either: %1',
            listText(
              kinds.map(name => words[name]?.title ?? name),
              trans
            )
          )}
        </p>
      )}
      {commands.length > 0 && (
        <p>
          {trans.__(
            'These commands are allowed already, so they will run without asking, too: %1',
            commands.join(', ')
          )}
        </p>
      )}
    </>
  );
}

function useSuggestedRules(ask: AskMessage): IAnswer<RuleSuggestionsMessage> {
  const { client, store } = usePanel();
  const { ts } = ask;
  return useAnswer(
    React.useCallback(
      () =>
        requestReply(
          client,
          {
            type: 'suggestRules',
            messageTs: ts,
            ...named(store.state?.currentTaskId ?? null)
          },
          (message): message is RuleSuggestionsMessage =>
            message.type === 'ruleSuggestions' && message.messageTs === ts
        ),
      [client, store, ts]
    )
  );
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The rules for each part of a command line; one of each is enough.
   */
  export function byCommand(
    rules: readonly RuleSuggestion[]
  ): [string, RuleSuggestion[]][] {
    const parts = new Map<string, RuleSuggestion[]>();
    for (const rule of rules) {
      if (rule.kind === 'command') {
        const part = rule.command ?? rule.value;
        parts.set(part, [...(parts.get(part) ?? []), rule]);
      }
    }
    return [...parts];
  }

  /**
   * What is allowed already, and waits only for these switches.
   */
  export function alsoAllowed(
    classes: readonly RuleSuggestion[],
    settings: GlobalSettings | undefined
  ): {
    readonly kinds: readonly (keyof GlobalSettings)[];
    readonly commands: readonly string[];
  } {
    const isSwitched = (name: string) =>
      classes.some(({ value }) => value === name);
    const isMain = isSwitched('autoApprovalEnabled');
    const runs =
      isSwitched('alwaysAllowExecute') ||
      (isMain && settings?.alwaysAllowExecute);
    return {
      kinds: isMain ? APPROVED_CLASSES.filter(name => settings?.[name]) : [],
      commands: runs ? (settings?.allowedCommands ?? []) : []
    };
  }

  /**
   * What the rules change in the settings.
   */
  export function change(
    classes: readonly RuleSuggestion[],
    commands: readonly string[],
    allowed: readonly string[]
  ): Record<string, boolean | string[]> {
    const added = [...new Set([...allowed, ...commands])];
    return {
      ...Object.fromEntries(classes.map(({ value }) => [value, true])),
      ...(commands.length > 0 ? { allowedCommands: added } : {})
    };
  }
}
