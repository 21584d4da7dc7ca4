import * as React from 'react';

/**
 * A choice of one among several. What is chosen may be longer than there is
 * room for, so its tooltip says it whole.
 */
export function Select(
  props: Omit<React.SelectHTMLAttributes<HTMLSelectElement>, 'className'>
): JSX.Element {
  const select = React.useRef<HTMLSelectElement>(null);
  React.useLayoutEffect(() => {
    if (select.current !== null) {
      select.current.title = select.current.selectedOptions[0]?.text ?? '';
    }
  });
  return <select ref={select} className="jp-hdspAgent-select" {...props} />;
}
