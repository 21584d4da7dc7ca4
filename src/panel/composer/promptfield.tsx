import * as React from 'react';

import { isComposing } from '../../ui/inputmethod';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { readAttachments } from '../../state/panel/attachments';
import { earlierPrompts } from '../../state/panel/prompthistory';

/**
 * The field one types into.
 */
export function PromptField({
  taskId,
  value,
  placeholder,
  describedBy,
  isReadOnly,
  caret,
  onChange,
  onSend,
  onPasteFiles,
  suggestions
}: PromptField.IProps): JSX.Element {
  const { node, serverSettings, state, store, trans } = usePanel();
  const enter = useStore(
    store,
    ({ state }) => state?.settings?.enterBehavior ?? 'send'
  );
  const ref = React.useRef<HTMLTextAreaElement>(null);
  useHeight(ref, node, value || placeholder);
  React.useLayoutEffect(() => {
    if (caret.current !== null) {
      ref.current?.setSelectionRange(caret.current, caret.current);
      caret.current = null;
    }
  }, [value, caret]);

  const look = (field: HTMLTextAreaElement, isTyping: boolean) => {
    const { selectionStart, selectionEnd, value } = field;
    suggestions.look(
      value,
      selectionStart === selectionEnd ? selectionStart : null,
      isTyping
    );
  };

  const learn = () =>
    void state.loadFirstPrompts(async () => {
      const { HistoryApi } = await import('../../rest/historyapi');
      const firstPrompts = await new HistoryApi(serverSettings).firstPrompts();
      return firstPrompts.map(task => readAttachments(task).text);
    });

  const recall = (event: React.KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { selectionStart, selectionEnd } = event.currentTarget;
    if (selectionStart !== selectionEnd || Private.isModified(event)) {
      return false;
    }
    const isStart = selectionStart === 0;
    const isEnd = selectionStart === value.length;
    const history = state.promptHistory(taskId);
    const text =
      event.key === 'ArrowUp' && isStart
        ? history.older(value, () => earlierPrompts(store, state))
        : event.key === 'ArrowDown' && isEnd
          ? history.newer(value)
          : null;
    if (text === null) {
      return false;
    }
    caret.current = event.key === 'ArrowUp' ? 0 : text.length;
    onChange(text);
    return true;
  };

  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event.nativeEvent)) {
      return;
    }
    const isHandled =
      suggestions.onKey(event) ||
      recall(event) ||
      (Private.sends(event, enter) && (onSend(), true));
    if (isHandled) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  return (
    <textarea
      ref={ref}
      className="jp-hdspAgent-composer-field"
      dir="auto"
      rows={1}
      value={value}
      placeholder={placeholder}
      readOnly={isReadOnly}
      aria-label={trans.__('Message to the agent')}
      aria-describedby={describedBy}
      {...suggestions.aria}
      {...(suggestions.isOpen ? { 'data-lm-suppress-shortcuts': 'true' } : {})}
      onChange={event => {
        onChange(event.target.value);
        look(event.target, true);
      }}
      onSelect={event => look(event.currentTarget, false)}
      onFocus={learn}
      onBlur={suggestions.onBlur}
      onKeyDown={onKeyDown}
      onPaste={event => {
        const { files, types } = event.clipboardData;
        // Spreadsheets and browsers copy a picture of the text along with it.
        if (files.length > 0 && !types.includes('text/plain')) {
          event.preventDefault();
          onPasteFiles([...files]);
          return;
        }
        const text = event.clipboardData.getData('text/plain');
        if (text.length > Private.LONGEST_PASTE) {
          event.preventDefault();
          const name = trans.__('Pasted text.txt');
          onPasteFiles([new File([text], name, { type: 'text/plain' })]);
        }
      }}
    />
  );
}

/**
 * The namespace for `PromptField` statics.
 */
export namespace PromptField {
  /**
   * What the field needs of the suggestions that are shown above it.
   */
  export interface ISuggestions {
    /**
     * Take up what is typed, and where the caret is; `null` if text is selected.
     * A caret that moves opens no list.
     */
    readonly look: (
      text: string,
      caret: number | null,
      isTyping: boolean
    ) => void;

    /**
     * Offer a key to the list; whether it took it.
     */
    readonly onKey: (event: React.KeyboardEvent) => boolean;

    readonly onBlur: () => void;

    /**
     * Whether the list is there; it takes keys then that mean other things to Lab.
     */
    readonly isOpen: boolean;

    /**
     * What the field is for assistive technology while the list is there: a box
     * that opens one, and what of it is chosen.
     */
    readonly aria: React.AriaAttributes & { readonly role?: 'combobox' };
  }

  /**
   * The properties of the field.
   */
  export interface IProps {
    /**
     * The conversation it is for; `null` is one that is yet to begin.
     */
    readonly taskId: string | null;
    readonly value: string;
    readonly placeholder: string;

    /**
     * The id of what says more about the field.
     */
    readonly describedBy: string | undefined;
    readonly isReadOnly: boolean;

    /**
     * Where the caret goes when the text changes next; `null` if it stays.
     */
    readonly caret: React.MutableRefObject<number | null>;
    readonly onChange: (text: string) => void;
    readonly onSend: () => void;
    readonly onPasteFiles: (files: readonly File[]) => void;
    readonly suggestions: ISuggestions;
  }
}

/**
 * Let the field be as high as its text, up to a part of the panel.
 */
function useHeight(
  ref: React.RefObject<HTMLTextAreaElement>,
  panel: HTMLElement,
  text: string
): void {
  const fit = React.useCallback(() => {
    const field = ref.current;
    if (field) {
      // Without a height of its own it has nothing to scroll.
      const { scrollTop } = field;
      field.style.height = 'auto';
      const most = Math.max(
        Private.LOWEST_LIMIT,
        panel.clientHeight * Private.MOST_OF_PANEL
      );
      const border = field.offsetHeight - field.clientHeight;
      field.style.height = `${Math.min(field.scrollHeight + border, most)}px`;
      field.scrollTop = scrollTop;
    }
  }, [ref, panel]);
  React.useLayoutEffect(fit, [fit, text]);
  React.useEffect(() => {
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(fit);
    observer.observe(panel);
    return () => observer.disconnect();
  }, [fit, panel]);
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * Which part of the panel the field takes at most.
   */
  export const MOST_OF_PANEL = 0.4;

  /**
   * A text of more characters goes along as a file: a field that long is slow,
   * and nobody reads it there.
   */
  export const LONGEST_PASTE = 20_000;

  /**
   * How high, in pixels, the field may be in however low a panel.
   */
  export const LOWEST_LIMIT = 80;

  export function isModified(event: React.KeyboardEvent): boolean {
    return event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
  }

  /**
   * Whether a key sends: Enter, or with the other setting Ctrl or Cmd with it,
   * which does so always.
   */
  export function sends(
    event: React.KeyboardEvent,
    enter: 'send' | 'newline'
  ): boolean {
    if (event.key !== 'Enter' || event.altKey || event.shiftKey) {
      return false;
    }
    return enter === 'send' || event.ctrlKey || event.metaKey;
  }
}
