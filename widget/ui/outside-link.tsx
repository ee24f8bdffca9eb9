import type { ReactNode } from 'react'
import { OutsideIcon } from './icons.tsx'

export type Look = 'button primary' | 'button' | 'link'

type Props = { href: string; look: Look; children: ReactNode }

export function OutsideLink({ href, look, children }: Props) {
  return (
    <a className={look} href={href} target="_blank" rel="noopener noreferrer">
      {children} <OutsideIcon />
    </a>
  )
}
