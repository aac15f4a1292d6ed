# The compiler and the development packages stay in this stage.
FROM node:26.10.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=optional
COPY tsconfig.json nest-cli.json ./
COPY scripts scripts
COPY migrations migrations
COPY src src
COPY docs docs
COPY clients clients
COPY CHANGELOG.md ./
# What is compiled is in the bundle.
RUN npm run build && rm -r dist/compiled

# What runs: production packages only. The optional ones are a Node and a PostgreSQL, and the container brings both.
FROM node:26.10.0-slim AS packages
WORKDIR /haulbridge
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional
# What it is made of: the packages (CycloneDX), and the texts of their licences. npm misses what package.json names and is not installed.
COPY scripts/notices.mjs scripts/notices.mjs
RUN npm pkg delete devDependencies optionalDependencies \
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json \
 && node scripts/notices.mjs > THIRD-PARTY-NOTICES.md

FROM node:26.10.0-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# npm runs the commands there, and its home may be read-only.
ENV npm_config_cache=/tmp/.npm npm_config_update_notifier=false
# OpenShift runs a container as any user of the group 0.
RUN install -d -o node -g 0 -m 0770 /data
# The commit: docker build --build-arg REVISION=$(git rev-parse HEAD)
ARG REVISION=
LABEL org.opencontainers.image.title=haulbridge \
      org.opencontainers.image.version=0.3.0 \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.description="Scale tickets, accounts, disposal sites and truck-camera video between a waste-hauling platform and its partners" \
      org.opencontainers.image.licenses=MIT
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /haulbridge/THIRD-PARTY-NOTICES.md /haulbridge/sbom.cdx.json ./
COPY --from=packages /haulbridge/node_modules node_modules
COPY --from=build /app/dist dist
# By number, so that Kubernetes can see that it is not root.
USER 1000:0
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=4s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# As `npm run start:prod`.
CMD ["node", "dist/src/main.js"]
