import type { MouseEvent, ReactNode } from 'react'
import { go } from './place.ts'

type Props = { to: string; className?: string; children: ReactNode; isCurrent?: boolean }

/** A link inside the console. With a modifier key it opens like any other link. */
export function PageLink({ to, className, children, isCurrent = false }: Props) {
  const onClick = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
    event.preventDefault()
    go(to)
  }
  return (
    <a
      href={to}
      onClick={onClick}
      {...(className !== undefined && { className })}
      {...(isCurrent && { 'aria-current': 'page' })}
    >
      {children}
    </a>
  )
}
