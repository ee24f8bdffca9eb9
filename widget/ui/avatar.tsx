import './avatar.css'
import { useState } from 'react'

/** A picture from Steam. If it fails to load, a plain tile takes its place. */
export function Avatar({ url, size }: { url: string; size: number }) {
  const [brokenUrl, setBrokenUrl] = useState<string>()
  return brokenUrl === url ? (
    <span className="avatar avatar-missing" aria-hidden="true" />
  ) : (
    <img
      className="avatar"
      src={url}
      alt=""
      width={size}
      height={size}
      referrerPolicy="no-referrer"
      onError={() => setBrokenUrl(url)}
    />
  )
}
