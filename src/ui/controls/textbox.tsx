import * as React from 'react';

/**
 * A text that a person writes, under its name.
 */
export function TextBox(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;

  /**
   * How many rows are shown; without them it is one line.
   */
  rows?: number;
  hint?: string;
  disabled?: boolean;
  required?: boolean;

  /**
   * Whether it takes the focus when it appears.
   */
  takesFocus?: boolean;
}): JSX.Element {
  const id = React.useId();
  const shared = {
    id,
    dir: 'auto',
    className: 'jp-hdspSettings-input',
    disabled: props.disabled,
    required: props.required,
    autoFocus: props.takesFocus,
    value: props.value,
    'aria-describedby': props.hint ? `${id}-hint` : undefined
  };
  return (
    <div className="jp-hdspSettings-field">
      <div className="jp-hdspSettings-fieldHead">
        <label className="jp-hdspSettings-label" htmlFor={id}>
          {props.label}
        </label>
      </div>
      {props.rows ? (
        <textarea
          {...shared}
          rows={props.rows}
          onChange={event => props.onChange(event.target.value)}
        />
      ) : (
        <input
          {...shared}
          type="text"
          autoComplete="off"
          spellCheck={false}
          onChange={event => props.onChange(event.target.value)}
        />
      )}
      {props.hint && (
        <p id={`${id}-hint`} className="jp-hdspSettings-description">
          {props.hint}
        </p>
      )}
    </div>
  );
}
