module github.com/messaging-service/messaging-go/cmd/messaging

go 1.26.0

replace github.com/messaging-service/messaging-go => ../..

require (
	github.com/messaging-service/messaging-go v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/time v0.16.0 // indirect
)
