import { OutsideIcon } from './icons.tsx'

export type Look = 'button primary' | 'button' | 'link'

type Props = { href: string; look?: Look; text: string }

export function OutsideLink({ href, look, text }: Props) {
  return (
    <a className={look} href={href} target="_blank" rel="noopener noreferrer">
      <OutsideLabel text={text} />
    </a>
  )
}

/** A label with the icon of a new tab. If the label wraps, the icon stays beside its last word. */
function OutsideLabel({ text }: { text: string }) {
  const lastWordAt = text.lastIndexOf(' ') + 1
  return (
    <span>
      {text.slice(0, lastWordAt)}
      <span className="outside-end">
        {text.slice(lastWordAt)} <OutsideIcon />
      </span>
    </span>
  )
}
