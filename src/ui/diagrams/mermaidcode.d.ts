/**
 * The code of Mermaid as a text: what ends in `.txt` is bundled as one.
 */
declare module 'mermaid.txt!=!mermaid/dist/mermaid.min.js' {
  const code: string;
  export default code;
}
