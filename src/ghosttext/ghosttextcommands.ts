import { EditorView } from '@codemirror/view';
import type { ICompletionProviderManager } from '@jupyterlab/completer';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Widget } from '@lumino/widgets';

import type { ChannelClient } from '../comm/client';
import type { AgentStore } from '../state/store';
import { CommandIDs } from '../ui/commandids';
import { commandLabel } from '../ui/commandlabel';
import { attempt } from '../ui/notifications';
import type { GhostTextProvider } from './ghosttextprovider';

/**
 * What a word is, with the space before it.
 */
const WORD = /^\s*(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)/u;

/**
 * What a line is, with the line breaks before it.
 */
const LINE = /^\n*[^\n]*/;

/**
 * Add the commands that switch ghost text on and off, and take a part of it.
 */
export function addGhostTextCommands(options: IOptions): void {
  const { client, commands, store, trans } = options;
  const isOn = () => store.state?.settings?.ghostTextEnabled === true;
  commands.addCommand(CommandIDs.toggleGhostText, {
    label: commandLabel(trans, trans.__('Ghost Text')),
    caption: trans.__('Show suggestions in grey as you type'),
    describedBy: { args: { type: 'object', properties: {} } },
    isToggleable: true,
    isToggled: isOn,
    isEnabled: () =>
      store.state?.settings !== undefined &&
      !store.state.fixed?.includes('ghostTextEnabled'),
    execute: () =>
      attempt(trans, () =>
        client.request({
          type: 'updateSettings',
          updatedSettings: { ghostTextEnabled: !isOn() }
        })
      )
  });
  let wasOn = isOn();
  store.changed.connect(() => {
    if (isOn() !== wasOn) {
      wasOn = isOn();
      commands.notifyCommandChanged(CommandIDs.toggleGhostText);
    }
  });
  const parts: readonly [string, RegExp, string, string][] = [
    [
      CommandIDs.acceptGhostWord,
      WORD,
      trans.__('Accept Next Word of Ghost Text'),
      trans.__('Insert the next word of the suggestion')
    ],
    [
      CommandIDs.acceptGhostLine,
      LINE,
      trans.__('Accept Next Line of Ghost Text'),
      trans.__('Insert the next line of the suggestion')
    ]
  ];
  for (const [command, part, label, caption] of parts) {
    commands.addCommand(command, {
      label: commandLabel(trans, label),
      caption,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => shownGhost(options.current()) !== null,
      execute: () => acceptPart(options, part)
    });
  }
}

interface IOptions {
  readonly client: ChannelClient;
  readonly commands: CommandRegistry;
  readonly completions: ICompletionProviderManager;
  readonly provider: GhostTextProvider;
  readonly store: AgentStore;
  readonly trans: TranslationBundle;

  /**
   * The document or console in front.
   */
  readonly current: () => Widget | null;
}

/**
 * Insert the beginning of what is suggested; the rest is suggested still.
 */
function acceptPart(
  { completions, current, provider }: IOptions,
  part: RegExp
): void {
  const widget = current();
  const ghost = shownGhost(widget);
  if (widget === null || ghost === null) {
    return;
  }
  // Of several, the one that is shown; where it is long, its beginning.
  const [shown] = ghost.innerText.trim().split('\n');
  const text = provider.items
    .map(({ insertText }) => insertText)
    .find(one => one !== '' && one.trimStart().startsWith(shown));
  const taken = text && part.exec(text)?.[0];
  if (!taken) {
    return;
  }
  const view = EditorView.findFromDOM(ghost);
  view?.dispatch(view.state.replaceSelection(taken), {
    scrollIntoView: true,
    userEvent: 'input.complete'
  });
  if (taken !== text) {
    // Lab asks by itself for who types, but not where a line begins.
    provider.goOn();
    completions.inline?.invoke(widget.id);
  }
}

/**
 * The ghost text of ours that is shown in the editor with the focus.
 */
function shownGhost(widget: Widget | null): HTMLElement | null {
  return (
    widget?.node.querySelector<HTMLElement>(
      '.cm-focused [data-provided-by="hdsp-agent:ghost-text"]'
    ) ?? null
  );
}
