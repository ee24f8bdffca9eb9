import { useEffect } from 'react'
import { NotFound } from './not-found.tsx'

/** The address of the operator's own page, which the gateway writes into the document; empty if there is none. */
const homeUrl = (): string => document.documentElement.dataset.home ?? ''

/** Sends the browser to the operator's own page; without one, shows the 404 page. */
export function Home() {
  const url = homeUrl()
  const hasUrl = /^https?:\/\//i.test(url)
  useEffect(() => {
    if (hasUrl) location.replace(url)
  }, [hasUrl, url])
  return hasUrl ? null : <NotFound />
}
