/** The page's address. It includes the filters, so it can be shared with a colleague. */
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

const notify = (): void => {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  // The browser keeps one copy of `notify`, however many listeners subscribe.
  addEventListener('popstate', notify)
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export type Place = { path: string; query: URLSearchParams; address: string }

export function usePlace(): Place {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search)
  const [path = '/', search = ''] = address.split('?')
  return { path, query: new URLSearchParams(search), address }
}

export function go(address: string): void {
  if (address !== location.pathname + location.search) history.pushState(null, '', address)
  notify()
  scrollTo(0, 0)
}

/** Replaces the current page, so Back skips it. */
export function replacePage(address: string): void {
  history.replaceState(null, '', address)
  notify()
  scrollTo(0, 0)
}

/** Changes the filters in the address. Back skips the old ones. */
export function setQuery(changes: Record<string, string>): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name)
    else query.set(name, value)
  }
  const search = query.toString()
  history.replaceState(null, '', location.pathname + (search === '' ? '' : `?${search}`))
  notify()
}
