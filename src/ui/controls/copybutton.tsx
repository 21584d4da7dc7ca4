import { Clipboard } from '@jupyterlab/apputils';
import { checkIcon, copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { usePanel } from '../services';
import { IconButton } from './iconbutton';
import { useRenderContext } from '../rendercontext';

/**
 * How long a button says that it has copied, in milliseconds.
 */
const SAID_FOR = 2_000;

/**
 * A button that copies a text, and says that it has.
 */
export function CopyButton({
  text,
  label
}: {
  text: string;
  label: string;
}): JSX.Element {
  const { trans } = usePanel();
  const { announcements } = useRenderContext();
  const [copied, setCopied] = React.useState(false);
  React.useEffect(() => {
    if (!copied) {
      return;
    }
    const timer = setTimeout(() => setCopied(false), SAID_FOR);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      icon={copied ? checkIcon : copyIcon}
      label={label}
      title={copied ? trans.__('Copied') : label}
      onClick={() => {
        Clipboard.copyToSystem(text);
        setCopied(true);
        announcements.say(trans.__('Copied'));
      }}
    />
  );
}
