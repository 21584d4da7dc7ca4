import { caretDownIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import type { ModeName } from '../../../generated/wire';
import type { IChoice, IChoiceGroup } from '../../../ui/controls/choicelist';
import { ChoiceList, useChoiceKeys } from '../../../ui/controls/choicelist';
import { ProblemNote } from '../../../ui/controls/problemnote';
import { useStore } from '../../../ui/hooks';
import { usePanel } from '../../../ui/services';
import {
  MAIN_MODES,
  modeDescription,
  modeName
} from '../../../ui/texts/modenames';
import { useAnswer } from '../../../ui/useanswer';
import { loadModes } from '../suggestions/suggestionsources';

/**
 * The modes: the usual three, and the others when one asks for more.
 */
export default function ModeChoices({
  known,
  current,
  onChoose
}: {
  /**
   * The modes as far as they are known; none if they could not be read yet.
   */
  readonly known: readonly ModeName[];

  /**
   * The slug of the mode that is chosen now.
   */
  readonly current: string | undefined;
  readonly onChoose: (slug: string) => void;
}): JSX.Element {
  const { client, store, trans } = usePanel();
  const own = useStore(store, ({ state }) => state?.customModes);
  const isUnknown = known.length === 0;
  const ask = React.useMemo(
    () => (isUnknown ? () => loadModes(client) : null),
    [client, isUnknown]
  );
  const { answer, error } = useAnswer(ask);
  const modes = isUnknown ? (answer ?? []) : known;
  const choiceOf = ({ slug, name }: ModeName): IChoice => ({
    key: slug,
    label: modeName(trans, slug, own, name),
    detail: modeDescription(trans, slug, own),
    isChosen: slug === current,
    isEnabled: true
  });
  const main = MAIN_MODES.flatMap(slug =>
    modes.filter(one => one.slug === slug)
  );
  const others = modes.filter(({ slug }) => !MAIN_MODES.includes(slug));
  const [isMoreWanted, setMoreWanted] = React.useState(false);
  const isOpen = isMoreWanted || others.some(({ slug }) => slug === current);
  const groups: IChoiceGroup<IChoice>[] = [
    {
      label: trans.__('Modes'),
      isLabelHidden: true,
      choices: main.map(choiceOf)
    },
    ...(isOpen && others.length > 0
      ? [{ label: trans._p('mode', 'More'), choices: others.map(choiceOf) }]
      : [])
  ];
  const keys = useChoiceKeys(groups, current ?? null, ({ key }) =>
    onChoose(key)
  );
  const list = React.useRef<HTMLDivElement>(null);
  const id = React.useId();
  const isThere = modes.length > 0;
  React.useEffect(() => {
    if (isThere) {
      list.current?.focus();
    }
  }, [isThere, isOpen]);
  return (
    <div className="jp-hdspAgent-modeChoices">
      <ProblemNote error={error} />
      {isThere ? (
        <ChoiceList
          id={id}
          label={trans.__('Mode')}
          groups={groups}
          activeKey={keys.activeKey}
          onChoose={({ key }) => onChoose(key)}
          focus={{ ref: list, onKeyDown: keys.onKeyDown }}
        />
      ) : (
        error === null && <p role="status">{trans.__('Loading…')}</p>
      )}
      {!isOpen && others.length > 0 && (
        <button
          type="button"
          className="jp-hdspAgent-choices-more"
          aria-expanded="false"
          onClick={() => {
            setMoreWanted(true);
            keys.setActive(others[0].slug);
          }}
        >
          {trans.__('More')}
          <caretDownIcon.react tag="span" aria-hidden="true" />
        </button>
      )}
    </div>
  );
}
