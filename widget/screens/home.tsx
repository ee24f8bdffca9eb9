import { useEffect } from 'react'
import { NotFound } from './not-found.tsx'

/** The gateway names the provider's own page in the document, when it has one. */
const homeUrl = (): string => document.documentElement.dataset.home ?? ''

/** Sends the browser to the provider's home address; without one there is no such page. */
export function Home() {
  const url = homeUrl()
  const leads = /^https?:\/\//i.test(url)
  useEffect(() => {
    if (leads) location.replace(url)
  }, [leads, url])
  return leads ? null : <NotFound />
}
