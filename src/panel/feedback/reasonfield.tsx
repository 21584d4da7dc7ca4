import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { IconButton } from '../../ui/controls/iconbutton';
import { isComposing } from '../../ui/inputmethod';
import { usePanel } from '../../ui/services';

/**
 * How long a reason may be; the server says the same.
 */
const LONGEST = 1_000;

/**
 * Asks in one line what was wrong with an answer. Nobody has to say.
 */
export function ReasonField({
  reason,
  isBusy,
  onSave,
  onCancel
}: {
  reason: string;
  isBusy: boolean;
  onSave: (reason: string) => void;
  onCancel: () => void;
}): JSX.Element {
  const { trans } = usePanel();
  const [text, setText] = React.useState(reason);
  const field = React.useRef<HTMLInputElement>(null);
  const hint = React.useId();
  React.useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      className="jp-hdspAgent-feedback"
      // Escape puts it away; to Lab it means to leave the panel.
      data-lm-suppress-shortcuts="true"
      onSubmit={event => {
        event.preventDefault();
        if (!isBusy) {
          onSave(text.trim());
        }
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
          event.stopPropagation();
          onCancel();
        }
      }}
    >
      <input
        ref={field}
        type="text"
        dir="auto"
        className="jp-hdspAgent-input"
        aria-label={trans.__('What was wrong? (optional)')}
        aria-describedby={hint}
        placeholder={trans.__('What was wrong? (optional)')}
        maxLength={LONGEST}
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button
        type="submit"
        className="jp-hdspAgent-button jp-mod-accept"
        aria-disabled={isBusy}
      >
        {trans.__('Save')}
      </button>
      <IconButton
        icon={closeIcon}
        label={trans.__('Close')}
        onClick={onCancel}
      />
      <p id={hint}>{trans.__('Stays with this conversation.')}</p>
    </form>
  );
}
