import * as React from 'react';

/**
 * A button that lets one choose a file.
 */
export function FileButton({
  label,
  accept,
  onFile
}: {
  label: string;
  accept: string;
  onFile: (file: File) => Promise<void>;
}): JSX.Element {
  const picker = React.useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        accept={accept}
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) {
            void onFile(file);
          }
          // So that the same file can be picked again.
          target.value = '';
        }}
      />
      <button
        type="button"
        className="jp-hdspSettings-button"
        onClick={() => picker.current?.click()}
      >
        {label}
      </button>
    </>
  );
}
