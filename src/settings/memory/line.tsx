import * as React from 'react';

import { ItemAction, ItemActions } from '../sections/itemactions';
import { useSettings } from '../settingscontext';
import { useAfterChange } from './linefocus';
import { shortText } from './memorytexts';
import { TextForm } from './textform';

/**
 * Something that is remembered, with what can be done about it.
 */
export function Line(props: {
  id: string;
  text: string;
  isBusy: boolean;

  /**
   * Keep other words; whether that was done.
   */
  onChange: (text: string) => Promise<boolean>;
  onDelete: () => Promise<boolean>;

  /**
   * Where it is from, and for what it counts.
   */
  about: React.ReactNode;

  /**
   * What else can be done about it.
   */
  children?: React.ReactNode;
}): JSX.Element {
  const { trans, dialogs, announce } = useSettings();
  const afterChange = useAfterChange();
  const item = React.useRef<HTMLLIElement>(null);
  const [isEdited, setEdited] = React.useState(false);
  const name = shortText(props.text);
  const close = () =>
    afterChange(item.current, () => {
      setEdited(false);
      return Promise.resolve();
    });
  const save = (text: string) =>
    afterChange(item.current, async () => {
      if (text === props.text || (await props.onChange(text))) {
        setEdited(false);
        announce(trans.__('Saved'));
      }
    });
  const remove = async () => {
    const sure = await dialogs.confirm({
      title: trans.__('Delete this?'),
      body: props.text,
      accept: trans.__('Delete')
    });
    if (sure) {
      await afterChange(item.current, async () => {
        if (await props.onDelete()) {
          announce(trans.__('“%1” was deleted.', name));
        }
      });
    }
  };
  return (
    <li ref={item} className="jp-hdspSettings-memoryLine" data-line={props.id}>
      {isEdited ? (
        <TextForm
          name={trans.__('Edit “%1”', name)}
          text={props.text}
          isBusy={props.isBusy}
          onSave={text => void save(text)}
          onCancel={() => void close()}
        />
      ) : (
        <>
          <p className="jp-hdspSettings-memoryText" dir="auto">
            {props.text}
          </p>
          <div className="jp-hdspSettings-memoryFoot">
            <div className="jp-hdspSettings-memoryAbout">{props.about}</div>
            <ItemActions name={name}>
              <ItemAction
                label={trans.__('Edit')}
                about={trans.__('Edit “%1”', name)}
                onClick={() => setEdited(true)}
              />
              {props.children}
              <ItemAction
                label={trans.__('Delete…')}
                about={trans.__('Delete “%1”…', name)}
                onClick={remove}
              />
            </ItemActions>
          </div>
        </>
      )}
    </li>
  );
}

/**
 * Leads to a conversation; only its name where there is no panel to show it.
 */
export function ConversationLink({
  label,
  about,
  taskId
}: {
  label: string;

  /**
   * What is read aloud; it contains the label.
   */
  about: string;
  taskId: string;
}): JSX.Element {
  const { openConversation } = useSettings();
  return openConversation ? (
    <button
      type="button"
      className="jp-hdspSettings-link"
      aria-label={about}
      onClick={() => openConversation(taskId)}
    >
      {label}
    </button>
  ) : (
    <span>{label}</span>
  );
}
