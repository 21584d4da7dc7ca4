import { Clipboard } from '@jupyterlab/apputils';
import * as React from 'react';

import { useSettings } from '../settingscontext';

/**
 * A text to paste elsewhere, with a button that copies all of it.
 */
export function CopyText({
  text,
  label
}: {
  text: string;

  /**
   * What the text is, for those who do not see what stands before it.
   */
  label: string;
}): JSX.Element {
  const { trans, announce } = useSettings();
  const [isCopied, setCopied] = React.useState(false);
  React.useEffect(() => setCopied(false), [text]);
  const copy = () => {
    // Unlike the browser's own clipboard, this works without HTTPS too.
    Clipboard.copyToSystem(text);
    setCopied(true);
    announce(trans.__('Copied'));
  };
  return (
    <div className="jp-hdspSettings-copy">
      <pre
        className="jp-hdspSettings-prompt"
        // It scrolls, so that it must be reached by keyboard.
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        {text}
      </pre>
      <button
        type="button"
        className="jp-hdspSettings-button"
        aria-label={
          isCopied ? trans.__('Copied: %1', label) : trans.__('Copy: %1', label)
        }
        onClick={copy}
      >
        {isCopied ? trans.__('Copied') : trans.__('Copy')}
      </button>
    </div>
  );
}
