import * as React from 'react';

import { usePanel } from '../../../ui/services';

/**
 * Pictures, small until one wants to see them.
 */
export function PictureList({
  images
}: {
  images: readonly string[] | undefined;
}): JSX.Element | null {
  // Only what is in the message itself: nothing is fetched.
  const shown = (images ?? []).filter(image => image.startsWith('data:image/'));
  if (shown.length === 0) {
    return null;
  }
  return (
    <div className="jp-hdspAgent-pictures">
      {shown.map((image, index) => (
        <Picture
          key={index}
          image={image}
          number={index + 1}
          count={shown.length}
        />
      ))}
    </div>
  );
}

function Picture({
  image,
  number,
  count
}: {
  image: string;
  number: number;
  count: number;
}): JSX.Element {
  const { trans } = usePanel();
  const [isLarge, setLarge] = React.useState(false);
  return (
    <button
      className="jp-hdspAgent-picture"
      aria-expanded={isLarge}
      title={isLarge ? trans.__('Make smaller') : trans.__('Make larger')}
      onClick={() => setLarge(!isLarge)}
    >
      <img src={image} alt={trans.__('Image %1 of %2', number, count)} />
    </button>
  );
}
