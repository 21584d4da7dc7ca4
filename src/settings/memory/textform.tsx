import * as React from 'react';

import { fullCount } from '../../ui/texts/formats';
import { isComposing } from '../../ui/inputmethod';
import { TextBox } from '../../ui/controls/textbox';
import { FormButtons } from '../sections/formbuttons';
import { useSettings } from '../settingscontext';

/**
 * How long a note may be, and a line that was learned; the server says the same.
 */
const LONGEST = 2_000;

/**
 * Where one writes what is to be remembered.
 */
export function TextForm(props: {
  /**
   * What is read aloud of the form.
   */
  name: string;
  text?: string;
  isBusy: boolean;
  onSave: (text: string) => void;
  onCancel: () => void;

  /**
   * What else there is to say about it.
   */
  children?: React.ReactNode;
}): JSX.Element {
  const { trans } = useSettings();
  const [text, setText] = React.useState(props.text ?? '');
  const said = text.trim();
  const isTooLong = said.length > LONGEST;
  return (
    <form
      className="jp-hdspSettings-memoryForm"
      aria-label={props.name}
      onSubmit={event => {
        event.preventDefault();
        if (said !== '' && !isTooLong && !props.isBusy) {
          props.onSave(said);
        }
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && !isComposing(event.nativeEvent)) {
          event.stopPropagation();
          props.onCancel();
        }
      }}
    >
      <TextBox
        label={trans.__('What to remember')}
        rows={3}
        value={text}
        required
        takesFocus
        onChange={setText}
      />
      {isTooLong && (
        <p className="jp-hdspSettings-error" role="alert">
          {trans.__(
            'This is too long: %1 of %2 characters.',
            fullCount(said.length),
            fullCount(LONGEST)
          )}
        </p>
      )}
      {props.children}
      <FormButtons isBusy={false} onCancel={props.onCancel} />
    </form>
  );
}
